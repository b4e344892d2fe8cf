"""Workers as actors on a Ray cluster, one processor each, on any node."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import ray

from answerable.errors import SettingsError, WorkerLost, how_to_install
from answerable.indexing.prepare import Pipeline
from answerable.indexing.worker_pool import JobQueue, StepRunner

# Tries of a job, which may lose several workers and whole nodes without being the cause.
TRIES = 4
POLL_SECONDS = 0.5  # the longest delay until `close` is noticed; a guess, not measured
SECONDS_TO_CONNECT = 5  # a cluster on the same network answers at once; a guess, not measured


def start_ray_workers(address: str, count: int, make_pipeline: Callable[[], Pipeline]) -> JobQueue:
    """Start `count` workers, or one per processor of the cluster if it is 0. Raise SettingsError.

    `address` is HOST:PORT of a cluster that includes this machine. Every node needs the version of this package that
    is installed here. An actor that dies is restarted, on another node if need be; until a processor is free for it,
    the other workers do its jobs.
    """
    connected = _connect(address)
    processors = int(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]
    if not (count or processors):
        raise SettingsError(f"The Ray cluster at {address} has no processors. Start a node: ray start --address=…")
    workers = [_RayWorker(make_pipeline) for _ in range(count or processors)]
    return JobQueue(workers, share_files=False, tries=TRIES, on_close=ray.shutdown if connected else None)


def _connect(address: str) -> bool:
    """Connect to the cluster. Return whether the connection is new and must be closed."""
    if ray.is_initialized():
        return False
    host, _, port = address.rpartition(":")
    try:
        if not port.isdigit():
            # Refuse Ray's special addresses: "local", for example, would start a cluster here that sends usage reports.
            raise ValueError("the address is HOST:PORT")
        # Test the address first, since Ray itself would retry for minutes.
        socket.create_connection((host, int(port)), timeout=SECONDS_TO_CONNECT).close()
        # This applies to processes that Ray starts from here; nodes started earlier have their own setting.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        raise SettingsError(
            f"There is no Ray cluster at {address} that this machine can use ({error}). Start one here "
            f"(ray start --head), or make this machine a node of it (ray start --address={address})."
        ) from error
    return True


class _Actor(StepRunner):
    def version(self) -> str:
        return version("answerable")


class _RayWorker:
    def __init__(self, make_pipeline: Callable[[], Pipeline]) -> None:
        self._version = version("answerable")
        self._closed = threading.Event()
        # Ray must not retry: this actor may have no node to restart on, so a lost job goes to any free worker.
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0, scheduling_strategy="SPREAD")(_Actor)
        self._actor: Any = actor.remote(make_pipeline)

    def start(self) -> None:
        """Wait for the actor. Raise SettingsError if its node has another version of this package."""
        asked = self._actor.version.options(max_task_retries=-1).remote()
        while not ray.wait([asked], timeout=POLL_SECONDS)[0]:
            if self._closed.is_set():
                return
        try:
            found = ray.get(asked)
        except ray.exceptions.RayError as error:
            if self._closed.is_set():
                return
            raise SettingsError(
                f"A worker can't start on the Ray cluster ({_first_line(error)}). Install Answerable {self._version} "
                f"in the environment of every node. {how_to_install('ray')}"
            ) from error
        if found != self._version:
            raise SettingsError(
                f"A node of the Ray cluster has Answerable {found}, and this machine {self._version}. "
                f"Install the same version on both. {how_to_install('ray')}"
            )

    def run(self, step: Callable[[Pipeline, Any], Any], argument: Any) -> tuple[bool, Any]:
        """Run a step on the actor."""
        try:
            is_result, outcome = ray.get(self._actor.run.remote(step, argument))
            return is_result, outcome
        except ray.exceptions.RayError as error:
            raise WorkerLost(
                f"{TRIES} workers of the Ray cluster died on it ({_first_line(error)}): add it alone, or leave it out"
            ) from error

    def close(self) -> None:
        """Kill the actor. A waiting `run` raises WorkerLost."""
        self._closed.set()
        ray.kill(self._actor)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
