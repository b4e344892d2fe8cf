"""Test `answerable.aopen` and `AsyncLibrary`: methods can be awaited, and don't block the event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from helpers import HashEmbedder
from providers.scripted_server import ScriptedServer, chunk, handing_over, sse_reply

import answerable
from answerable.async_library import AsyncLibrary
from answerable.datatypes import Document
from answerable.errors import DocumentNotFound, LibraryError, LibraryNotFound, SourceNotFound
from answerable.indexing.ingest import Progress
from answerable.library import Library
from answerable.protocols import Passage, PassageVectors

pytestmark = pytest.mark.anyio
EXAMPLES = Path(__file__).parents[1] / "examples"
QUESTION = "How often should I descale the machine?"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class HeldEmbedder(HashEmbedder):
    """Embeds passages when it is let go, as a model that takes long; says when it has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.let_go = threading.Event(), threading.Event()

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        self.begun.set()
        assert self.let_go.wait(60), "the event loop is blocked"
        return super().embed_passages(passages)


@asynccontextmanager
async def held_library() -> AsyncIterator[tuple[AsyncLibrary, HeldEmbedder]]:
    embedder = HeldEmbedder()
    async with answerable.aopen(":memory:", embedder=embedder, reader="off") as library:
        yield library, embedder


@contextmanager
def endless_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A chat model whose answer goes on for longer than anybody waits."""
    words = (piece for _ in range(200) for piece in (chunk("word "), 0.1))
    with ScriptedServer() as model:
        endless = sse_reply(chunk("", role="assistant"), *words)
        model.script("/v1/chat/completions", handing_over("The machine is descaled every two months."), endless)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
        yield model


def test_every_method_of_a_library_can_be_awaited_under_its_name() -> None:
    for name, method in inspect.getmembers(Library, inspect.isfunction):
        if name.startswith("_"):
            continue
        awaited = getattr(AsyncLibrary, name)
        assert inspect.getdoc(awaited), name
        assert [*inspect.signature(awaited).parameters] == [*inspect.signature(method).parameters], name


async def test_adding_asking_and_streaming(tmp_path: Path) -> None:
    seen: list[Progress] = []
    async with answerable.aopen(tmp_path / "library") as library:
        report = await library.add(EXAMPLES, on_progress=seen.append)
        assert (report.added, await library.count()) == (4, (4, report.chunks))
        assert seen[-1].chunks_done == report.chunks
        one, other = await asyncio.gather(library.ask(QUESTION), library.search(QUESTION, k=2))
        assert one.citations[0].quote in (await library.document(one.citations[0].document_id)).content
        assert len(other) == 2
        events = [event async for event in library.ask_stream(QUESTION)]
        assert events[-1].answer is not None
        assert events[-1].answer.text == one.text
        with pytest.raises(DocumentNotFound):
            await library.document("none")
        with pytest.raises(SourceNotFound):
            await library.add(tmp_path / "none")
    with pytest.raises(LibraryError, match="is closed"):
        await library.ask(QUESTION)
    await library.close()


async def test_opening_by_await_and_a_library_that_is_not_there(tmp_path: Path) -> None:
    library = await answerable.aopen(":memory:")
    assert await library.count() == (0, 0)
    await library.close()
    with pytest.raises(LibraryNotFound):
        await answerable.aopen(tmp_path / "none", create=False)
    with pytest.raises(LibraryNotFound):
        async with answerable.aopen(tmp_path / "none", create=False):
            raise AssertionError("it isn't there")


async def test_the_event_loop_goes_on() -> None:
    async with held_library() as (library, embedder):
        adding = asyncio.create_task(library.add(EXAMPLES))
        while not embedder.begun.is_set():
            await asyncio.sleep(0.01)
        embedder.let_go.set()
        assert (await adding).added == 4


async def test_cancelled_adding_ends_and_leaves_whole_documents(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number}.txt").write_text(f"Member {number} may borrow five tools.\n\n" * 400)
    async with held_library() as (library, embedder):
        adding = asyncio.create_task(library.add(tmp_path))
        assert await asyncio.to_thread(embedder.begun.wait, 60)
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding
        embedder.let_go.set()
    # All words, and the vectors that were at hand.
    stored = library.blocking.documents()
    assert (len(stored), library.blocking.waiting() > 0) == (200, True)
    assert embedder.embedded < 200 * 8 / 2
    assert all(library.blocking.chunks(each.id) for each in stored)


@pytest.mark.parametrize("way", ["cancelled", "left"])
async def test_who_stops_waiting_stops_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with endless_model(monkeypatch) as model:
        async with answerable.aopen(":memory:", model="openai:scripted") as library:
            await library.add_documents([Document.from_text("The machine is descaled every two months.")])
            if way == "left":
                async for event in library.ask_stream(QUESTION):
                    if event.text:
                        break
            else:
                asking = asyncio.create_task(library.ask(QUESTION))
                # The first request is answered with evidence; the second goes on for longer than anybody waits.
                while len(model.requests) < 2:
                    await asyncio.sleep(0.01)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
        assert await asyncio.to_thread(model.disconnected.wait, 30)


async def test_who_is_cancelled_while_opening_leaves_no_library_open(tmp_path: Path) -> None:
    opening = asyncio.ensure_future(asyncio.wait_for(answerable.aopen(tmp_path / "library"), 0.001))
    with pytest.raises(asyncio.TimeoutError):
        await opening
    async with answerable.aopen(tmp_path / "library") as library:
        assert await library.count() == (0, 0)
