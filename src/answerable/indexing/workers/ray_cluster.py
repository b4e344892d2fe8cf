"""Workers that are actors on a Ray cluster, a processor each, on whichever nodes there are."""

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
from answerable.indexing.workers.jobs import Pool
from answerable.indexing.workers.steps import Tools

# Of workers and of whole nodes: more than one of each may go while a job is under way, without a fault of its own.
TRIES = 4
PATIENCE = 0.5
SECONDS_TO_CONNECT = 5


def ray_cluster(address: str, count: int, make_tools: Callable[[], Tools]) -> Pool:
    """As many workers as the cluster has processors, or `count` unless it is 0. Raises SettingsError.

    `address` is HOST:PORT of a cluster that this machine is a node of. Every node has the version of this package that
    this machine has. An actor that dies is started again, on another node where its own is gone; as long as no
    processor is free for it, the others do its jobs.
    """
    connected = _connect(address)
    processors = int(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]
    if not (count or processors):
        raise SettingsError(f"The Ray cluster at {address} has no processors. Start a node: ray start --address=…")
    workers = [_RayWorker(make_tools) for _ in range(count or processors)]
    return Pool(workers, share_files=False, tries=TRIES, on_close=ray.shutdown if connected else None)


def _connect(address: str) -> bool:
    """Whether the connection is new, and so ours to end."""
    if ray.is_initialized():
        return False
    host, _, port = address.rpartition(":")
    try:
        if not port.isdigit():
            # Words of Ray's, such as "local", start a cluster here, which talks to others.
            raise ValueError("the address is HOST:PORT")
        # Ray itself would try for minutes.
        socket.create_connection((host, int(port)), timeout=SECONDS_TO_CONNECT).close()
        # Read by whatever Ray starts for us; what was started before has its own.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        raise SettingsError(
            f"There is no Ray cluster at {address} that this machine can use ({error}). Start one here "
            f"(ray start --head), or make this machine a node of it (ray start --address={address})."
        ) from error
    return True


class _Station:
    """What an actor does: steps, with tools of its own."""

    def __init__(self, make_tools: Callable[[], Tools]) -> None:
        self._make_tools = make_tools
        self._tools: Tools | None = None

    def version(self) -> str:
        """Which version of this package the node has."""
        return version("answerable")

    def run(self, step: Callable[[Tools, Any], Any], job: Any) -> tuple[bool, Any]:
        """Whether the step gave a result, and that, or what it raised."""
        try:
            self._tools = self._tools or self._make_tools()
            return True, step(self._tools, job)
        except Exception as error:
            return False, error


class _RayWorker:
    def __init__(self, make_tools: Callable[[], Tools]) -> None:
        self._version = version("answerable")
        self._closed = threading.Event()
        # Jobs that were lost go to whoever is free, not back to this actor, which may have no node to start on.
        station = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0, scheduling_strategy="SPREAD")(_Station)
        self._actor: Any = station.remote(make_tools)

    def start(self) -> None:
        """Waits until the actor is there. Raises SettingsError where its node has another version of this package."""
        asked = self._actor.version.options(max_task_retries=-1).remote()
        while not ray.wait([asked], timeout=PATIENCE)[0]:
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
                f"Install the same on both. {how_to_install('ray')}"
            )

    def run(self, step: Callable[[Tools, Any], Any], job: Any) -> Any:
        """The result of a step on the actor. What is large goes through the cluster's object store."""
        try:
            is_result, outcome = ray.get(self._actor.run.remote(step, job))
        except ray.exceptions.RayError as error:
            raise WorkerLost(
                f"{TRIES} workers of the Ray cluster died over it ({_first_line(error)}): add it alone, or leave it out"
            ) from error
        if not is_result:
            raise outcome
        return outcome

    def close(self) -> None:
        """Ends the actor. Who waits for it gets an error."""
        self._closed.set()
        ray.kill(self._actor)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
