"""Test adding on a real Ray cluster of two nodes on this machine, one of which is lost during the work."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
import ray
import steps
from libraries import assert_same, make_files, make_library
from postgres_server import new_library
from ray_nodes import Node, wait_for_processors

import answerable
from answerable.errors import SettingsError
from answerable.indexing.ingest import Progress
from answerable.indexing.ray_cluster import start_ray_workers

SECONDS = 60


class Cluster(NamedTuple):
    """A head and a second node, a processor each."""

    head: Node
    second: Node


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes that know each other."""
    # The names of sockets may not be long.
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    head = Node(folder, "127.0.0.2")
    nodes = [head]
    try:
        head.wait_until_reachable()
        nodes.append(Node(folder, "127.0.0.3", head.address))
        wait_for_processors(head.address, 2)
        yield Cluster(*nodes)
    finally:
        for node in nodes:
            node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def test_the_command_adds_on_the_cluster(cluster: Cluster, tmp_path: Path) -> None:
    folder, library = tmp_path / "in", tmp_path / "library"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text(f"Note {number}: the river rose by {number} cm.")
    command = [sys.executable, "-c", "from answerable.interfaces.cli.main import run; run()", "add", str(folder)]
    environment = {**os.environ, "ANSWERABLE_READER": "off"}
    done = subprocess.run(
        [*command, "--library", str(library), "--ray", cluster.head.address, "--json"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["added"] == 3
    with answerable.open(library, create=False, reader="off") as opened:
        assert "2 cm" in opened.search("the river rose by 2 cm", k=1)[0].chunk.content


@pytest.mark.long
def test_a_lost_worker_and_a_lost_node_lose_nothing(cluster: Cluster, tmp_path: Path) -> None:
    folder = make_files(tmp_path / "in", 70)
    alone = make_library(new_library())
    expected = alone.add(folder)
    killed: list[str] = []

    def kill(progress: Progress) -> None:
        share = progress.chunks_done / expected.chunks
        if share > 0.2 and not killed:
            os.kill(cluster.head.workers()[0], signal.SIGKILL)
            killed.append("worker")
        elif share > 0.5 and len(killed) == 1:
            cluster.second.kill()
            killed.append("node")

    with make_library(
        new_library(), partial(start_ray_workers, cluster.head.address, 0, steps.make_pipeline)
    ) as library:
        report = library.add(folder, on_progress=kill)
        assert killed == ["worker", "node"]
        assert (report.added, report.chunks) == (expected.added, expected.chunks)
        assert len(report.failures) == len(expected.failures)
        assert set(Counter(stored.source for stored in library.documents()).values()) == {1}
        assert_same(library, alone)
    alone.close()


def test_no_cluster_is_one_clear_error() -> None:
    started = time.monotonic()
    with pytest.raises(SettingsError, match=r"There is no Ray cluster at 127\.0\.0\.4:9"):
        start_ray_workers("127.0.0.4:9", 0, steps.make_pipeline)
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("address", ["local", "auto"])
def test_no_cluster_is_started(address: str) -> None:
    with pytest.raises(SettingsError, match=r"HOST:PORT"):
        start_ray_workers(address, 0, steps.make_pipeline)
    assert not ray.is_initialized()


def test_a_worker_that_cannot_start_fails_every_job(cluster: Cluster) -> None:
    with closing(start_ray_workers(cluster.head.address, 1, steps.refuse_to_start)) as pool:
        job = pool.submit(steps.square, 2)
        with pytest.raises(SettingsError, match="no pipeline today"):
            job.result()
    assert not ray.is_initialized()
