"""Start a real Ray cluster on this machine; each node has its own address, and can be killed with its processes."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.2"
FOLDERS = (Path(__file__).parent, Path(__file__).parents[1])
_PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")
_BEFORE = re.search(r"^export RAY_.*?(?=^ray start)", _PAGE, re.MULTILINE | re.DOTALL)
assert _BEFORE, "docs/scale.md says what comes before a node is started"


def free_port() -> int:
    """A port that nothing listens on, and that the system gives to nobody who doesn't ask for it by its number."""
    while True:
        port = random.randint(10_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("", port))
            return port


class Node:
    """One node with this number of processors. The first is the head; others join it at its address.

    It is started as docs/scale.md says. `prefix` is put before its command, as `taskset -c 0`.
    """

    def __init__(
        self, folder: Path, host: str, head: str = "", processors: int = 1, prefix: Sequence[str] = ()
    ) -> None:
        self.host = host
        self.address = head or f"{host}:{free_port()}"
        port = self.address.rpartition(":")[2]
        role = [f"--address={head}"]
        if not head:
            # A temporary folder with a short name: sockets are made in it.
            ports = {"port": port, "dashboard-port": free_port(), "ray-client-server-port": free_port()}
            role = ["--head", *(f"--{name}={number}" for name, number in ports.items())]
            role += ["--include-dashboard=false", f"--temp-dir={folder}"]
        sizes = [f"--num-cpus={processors}", "--object-store-memory=100000000", "--min-worker-port=0"]
        quiet = ["--max-worker-port=0", "--dashboard-agent-listen-port=0", "--include-log-monitor=false", "--block"]
        path = os.pathsep.join([*map(str, FOLDERS), *filter(None, sys.path)])
        shell = ["sh", "-c", f'{_BEFORE[0]}exec "$@"', "sh"]
        start = [Path(sys.executable).parent / "ray", "start", f"--node-ip-address={host}"]
        self._process = subprocess.Popen(
            [*shell, *prefix, *start, *role, *sizes, *quiet],
            stdout=(folder / f"{host}.log").open("w"),
            stderr=subprocess.STDOUT,
            # Ray gives workers the lowest priority, which is none at all on a busy machine.
            env={**os.environ, "PYTHONPATH": path, "RAY_worker_niceness": "0"},
            start_new_session=True,
        )

    def workers(self) -> list[int]:
        """The processes in which actors run on the node."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                # They are children of a process of the node, in groups of their own.
                is_here = os.getpgid(parent) == self._process.pid
                if is_here and (folder / "cmdline").read_bytes().startswith(b"ray::_Actor"):
                    found.append(int(folder.name))
        return found

    def wait_until_reachable(self, seconds: float = 120) -> None:
        """Until the head takes connections."""
        host, _, port = self.address.rpartition(":")
        until = time.monotonic() + seconds
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def kill(self) -> None:
        """Ends everything that the node runs, at once, as a power cut does."""
        if self._process.poll() is None:
            workers = self.workers()
            os.killpg(self._process.pid, signal.SIGKILL)
            for worker in workers:
                # Some end by themselves when their node is gone.
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
            self._process.wait()


def wait_for_processors(address: str, count: int) -> None:
    """Wait until the cluster at an address has this number of processors."""
    program = """
import sys, time, ray
ray.init(address=sys.argv[1], log_to_driver=False)
while ray.cluster_resources().get("CPU", 0) < int(sys.argv[2]):
    time.sleep(0.1)
"""
    subprocess.run([sys.executable, "-c", program, address, str(count)], check=True, timeout=120)
