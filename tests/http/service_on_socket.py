"""A service on a real socket, and what tests of it share: libraries, models, and a reader of event streams."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from example_library import example_cache
from helpers import HashEmbedder

from answerable.answering.decide import Answering, Writer
from answerable.interfaces.http.guards.callers import Rates
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.server import Server, open_service
from answerable.interfaces.http.service import Options, Service
from answerable.library import Library
from answerable.protocols import ChatModel, Delta, Message, Passage, PassageVectors, Tool, ToolCall
from answerable.settings import Settings
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore
from answerable.wiring.build import build_answerer, build_reader

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE_FILES = sorted(path for path in EXAMPLES.iterdir() if path.is_file() and not path.name.startswith("."))
MANY = Rates(asks=10_000, searches=10_000, uploads=10_000, others=100_000, concurrent=1_000, refused=100_000)


@contextmanager
def running(service: Service, guards: Guards | None = None) -> Iterator[Server]:
    """The service on a port of this machine, served by a thread; stopped at the end."""
    server = Server(service, guards or Guards(rates=MANY), port=0)
    thread = threading.Thread(target=server.serve_until_stopped)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


def once_stopping(server: Server, work: Callable[[], None]) -> None:
    """Does something, in a thread, as soon as the server takes no more connections: it stops then."""
    address = server.socket.getsockname()[:2]

    def wait() -> None:
        with suppress(OSError):
            while True:
                socket.create_connection(address).close()
                time.sleep(0.02)
        work()

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def small_service(
    data: Path,
    *names: str,
    model: ChatModel | None = None,
    embedder: HashEmbedder | None = None,
    settings: Settings | None = None,
    **options: Any,
) -> Iterator[tuple[Server, httpx.Client]]:
    """A running service over small libraries under `data`, embedded by hashing, with a client for it."""
    base = settings or Settings()
    libraries = {name: replace(base, library=str(data / "libraries" / name)) for name in names or ("library",)}

    def build(settings: Settings, root: Path) -> Library:
        words = embedder or HashEmbedder()
        answerer = Answering(writer=Writer(model)) if model else build_answerer(settings, words.fingerprint)
        return Library(
            EmbeddedStore(Path(settings.library)),
            words,
            SplitterByType(600, 0),
            build_reader(settings, root),
            answerer,
        )

    service = open_service(libraries, Options(data, **options), build)
    with running(service) as server, httpx.Client(base_url=server.address, timeout=60) as client:
        yield server, client


@contextmanager
def example_service(folder: Path, cache_folder: Path, *more: tuple[str, bytes]) -> Iterator[Server]:
    """A running service over the sample documents and more files, with the embedder that users get."""
    # Single questions need no OpenVINO, and the samples' vectors are in the cache.
    settings = Settings(str(folder / "library"), cache_folder=str(example_cache(cache_folder)), reader="off")
    with running(open_service({"library": settings}, Options(folder / "data"))) as server:
        files = [*((path.name, path.read_bytes()) for path in EXAMPLE_FILES), *more]
        with httpx.Client(base_url=server.address, timeout=120) as client:
            job = upload(client, *files)
        assert job["report"]["added"] == len(files), job
        yield server


class GatedEmbedder(HashEmbedder):
    """Embeds passages only while its gate is open; `waiting` is set when something stands before it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.waiting = threading.Event()

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        self.waiting.set()
        self.gate.wait(240)
        return super().embed_passages(passages)


class PatientModel:
    """Searches, hands over its sources, and writes a text word by word, ending when it is told to go on.

    Its second reading doubts nothing.
    """

    name = "test:patient"

    def __init__(self, text: str, *sources: str, verdict: str = "answer") -> None:
        self.go_on = threading.Event()
        self.began = threading.Event()
        self.stopped = threading.Event()
        self._words = text.split(" ")
        items = [{"passage": 1, "text": source} for source in sources]
        self._evidence = json.dumps({"verdict": verdict, "items": items})

    def stream(self, messages: Sequence[Message], max_tokens: int | None = None) -> Generator[Delta, None, None]:
        yield Delta("[]")

    def converse(
        self, messages: Sequence[Message], tools: Sequence[Tool], max_tokens: int | None = None
    ) -> Generator[Delta, None, None]:
        if messages[-1].role != "tool":
            search = ToolCall("1", "search", '{"queries": ["blue gate"]}')
            yield Delta("", calls=(search, ToolCall("2", "evidence", self._evidence)))
            return
        try:
            for number, word in enumerate(self._words):
                if number:
                    self.go_on.wait(0.05)
                self.began.set()
                yield Delta(f"{word} ")
            while not self.go_on.wait(0.05):
                yield Delta("and so on ")
        except GeneratorExit:
            self.stopped.set()
            raise

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 + 1 for text in texts]

    def close(self) -> None:
        self.go_on.set()


def read_events(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """The events of a stream as they come, comments as `comment`."""
    name, data = "", ""
    for line in response.iter_lines():
        field, _, value = line.partition(":")
        if line.startswith(":"):
            yield "comment", value.strip()
        elif field == "event":
            name = value.strip()
        elif field == "data":
            data = value.strip()
        elif not line and name:
            yield name, json.loads(data)
            name, data = "", ""


def ask_events(client: httpx.Client, path: str, **body: Any) -> list[tuple[str, Any]]:
    """All events of an answer, without the comments that keep a slow one alive."""
    with client.stream("POST", path, json=body, headers={"Accept": "text/event-stream"}) as response:
        assert response.headers["content-type"].startswith("text/event-stream"), response.read()
        return [event for event in read_events(response) if event[0] != "comment"]


def upload(client: httpx.Client, *files: tuple[str, bytes], library: str = "library") -> dict[str, Any]:
    """The job that added these files, when it is over."""
    sent = client.post(f"api/v1/{library}/documents", files=[("files", file) for file in files])
    assert sent.status_code == 202, sent.text
    return wait_for(client, sent.json())


def wait_for(client: httpx.Client, job: dict[str, Any]) -> dict[str, Any]:
    """The job as it ended."""
    path = f"api/v1/{job['library']}/jobs/{job['job_id']}"
    until = time.monotonic() + 240
    while job["ended"] is None and time.monotonic() < until:
        time.sleep(0.02)
        job = client.get(path).json()
    assert job["ended"] is not None, job
    return job
