"""The tools of assistants: tools that read the library and, with --write, tools that change it; and how they run.

Calls run in a limited number of threads; over HTTP, the caller's key must permit them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter, Lock, from_thread, to_thread
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from answerable.answering.ask import last_of
from answerable.datatypes import Answer, Chunk, Document, RetrievalResult, chunk_id
from answerable.errors import AnswerableError
from answerable.formats.locate import Locator
from answerable.indexing.ingest import Progress
from answerable.interfaces.http.bodies import LONGEST_QUESTION
from answerable.interfaces.http.schemas import CheckedAnswer, FoundOut
from answerable.interfaces.mcp.results import (
    AddedOutput,
    DocumentsOutput,
    PassageOutput,
    RemovedOutput,
    added_text,
    answer_text,
    documents_text,
    passages_text,
    result,
)
from answerable.interfaces.plain import added_json, answer_json, narrowing_json, result_json, stored_json
from answerable.library import Library
from answerable.sharing import Work

Given = TypeVar("Given")


class Calls:
    """Runs blocking functions of tools; converts expected errors to errors that the assistant can read."""

    def __init__(self, at_once: int = 8) -> None:
        self._limiter = CapacityLimiter(at_once)

    async def run(self, function: Callable[..., Given], *arguments: object) -> Given:
        """Run a function. A cancelled call ends where the function next calls `from_thread.check_cancelled`."""
        try:
            return await to_thread.run_sync(partial(function, *arguments), limiter=self._limiter)
        except (AnswerableError, ValueError) as error:
            raise ToolError(str(error)) from error


def require_admin() -> None:
    """Raise ToolError if the caller's key may only ask. Over standard input and output anything is allowed."""
    found = get_access_token()
    if found is not None and "admin" not in found.scopes:
        raise ToolError("This key may only ask, search and read. Use a key made with --role admin.")


class _Call(Work):
    """The work of a call, which ends once its caller has gone, also while a model yields no events."""

    def check(self) -> None:
        """End the running function if the call is cancelled."""
        super().check()
        from_thread.check_cancelled()


# Seconds between two notifications of progress: five a second look continuous.
PACE = 0.2
# Fields that only passages found by a search have.
_OF_SEARCHES = ("score", "other_places")

Question = Annotated[str, Field(max_length=LONGEST_QUESTION, description="A complete question, in any language.")]
Where = Annotated[
    dict[str, Any] | None,
    Field(
        description='Only what matches: {"type": "pdf"}, {"sender": ["Ana"]}, {"date": {"gte": "2024-03-01"}}, '
        '{"source": "…"}, {"document_id": "…"}, {"page": {"lte": 9}}; combined with and, or, not.'
    ),
]
DocumentId = Annotated[str, Field(description="A document_id of a result, a citation or list_documents.")]
Neighbours = Annotated[int, Field(ge=0, le=10)]


class ReadingTools:
    """The tools of an assistant that don't change the library."""

    def __init__(self, library: Library, calls: Calls) -> None:
        self._library = library
        self._calls = calls

    async def search(
        self, question: Question, k: Annotated[int, Field(ge=1, le=50)] = 8, where: Where = None
    ) -> Annotated[CallToolResult, FoundOut]:
        """Find the k most relevant passages of the user's documents for a question, best first.

        Use it to explore or gather material. To answer a question, prefer `ask`.
        """
        found = await self._calls.run(self._library.search, question, k, where)
        plain = {"narrowing": narrowing_json(found.narrowing), "results": [result_json(result) for result in found]}
        return result(passages_text(found), plain, found.unavailable, found.waiting)

    async def ask(self, question: Question, where: Where = None) -> Annotated[CallToolResult, CheckedAnswer]:
        """Answer a question from the user's documents; each mark [n] is a citation verified word for word.

        If the documents don't answer it, the result says so. Don't fill the gap from elsewhere without saying so.
        """
        found = await self._calls.run(self._answer, question, where)
        return result(answer_text(found), answer_json(found), found.unavailable, found.waiting)

    async def list_documents(
        self,
        contains: Annotated[str, Field(description="Only documents with this in their title or source.")] = "",
        offset: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int, Field(ge=1, le=200)] = 50,
    ) -> Annotated[CallToolResult, DocumentsOutput]:
        """List the user's documents by source, without their text."""
        wanted = contains.casefold()
        found = [
            document
            for document in await self._calls.run(self._library.documents)
            if wanted in document.title.casefold() or wanted in document.source.casefold()
        ]
        shown = found[offset : offset + limit]
        plain = {"total": len(found), "offset": offset, "documents": [stored_json(document) for document in shown]}
        return result(documents_text(shown, offset, len(found)), plain, self._library.unavailable)

    async def get_passage(
        self,
        document_id: DocumentId,
        start: Annotated[int, Field(ge=0, description="Start of the span, in characters.")],
        end: Annotated[int | None, Field(ge=1, description="End of the span, exclusive.")] = None,
        before: Neighbours = 1,
        after: Neighbours = 1,
    ) -> Annotated[CallToolResult, PassageOutput]:
        """Get the passage of a document that contains a span, with `before` and `after` neighbouring passages.

        Use it to read more around a result of `search` or a citation of `ask`.
        """
        span = start, start + 1 if end is None else end
        read = partial(self._passage, document_id, span, before, after)
        document, chunk = await self._calls.run(read)
        found = RetrievalResult(chunk, 0.0, document)
        plain = {name: value for name, value in result_json(found).items() if name not in _OF_SEARCHES}
        return result(passages_text([found]), {**plain, "document_characters": len(document.content)})

    def _answer(self, question: str, where: Mapping[str, Any] | None) -> Answer:
        # Closing `events` stops the model.
        with closing(self._library.ask_stream(question, where, work=_Call())) as events:
            return last_of(events)

    def _passage(self, document_id: str, span: tuple[int, int], before: int, after: int) -> tuple[Document, Chunk]:
        """Return the document, and one chunk that covers all requested passages."""
        start, end = span
        document = self._library.document(document_id)
        chunks = self._library.chunks(document_id)
        touched = [index for index, chunk in enumerate(chunks) if chunk.start < end and start < chunk.end]
        if not touched:
            raise ValueError(
                f"no passage lies between characters {start} and {end} of {len(document.content)}: "
                "take start and end from a result or a citation"
            )
        wanted = chunks[max(touched[0] - before, 0) : touched[-1] + after + 1]
        first, last = wanted[0].start, max(chunk.end for chunk in wanted)
        content = document.content[first:last]
        location = Locator(document).location(first, last)
        made = chunk_id(document_id, first, content)
        return document, Chunk(made, document_id, content, first, last, wanted[0].sequence, location)


class WritingTools:
    """The tools that change the library. They read sites, but only files under the roots."""

    def __init__(self, library: Library, calls: Calls, roots: Sequence[Path] = ()) -> None:
        self._library = library
        self._calls = calls
        self._roots = tuple(root.expanduser().resolve() for root in roots)
        self._one_at_a_time = Lock()

    async def add_source(
        self,
        source: Annotated[str, Field(max_length=4000, description="A file, a folder, or a site's URL (https://…).")],
        context: Context[Any, Any],
    ) -> Annotated[CallToolResult, AddedOutput]:
        """Add a file, a folder's files or a site to the user's library. Unchanged documents stay as they are.

        A newer version of a file replaces the old one. Pages that no longer exist on a site are removed.
        """
        require_admin()
        place = allowed_source(source, self._roots)
        async with self._one_at_a_time:
            report = await self._calls.run(self._library.add, place, Notifier(context))
        return result(added_text(report), added_json(report, dry_run=False))

    async def remove_document(self, document_id: DocumentId) -> Annotated[CallToolResult, RemovedOutput]:
        """Remove a document from the user's library without a trace. The file itself stays."""
        require_admin()
        async with self._one_at_a_time:
            await self._calls.run(self._library.remove, document_id)
        return result("Removed.", {"removed": document_id})


class Notifier:
    """A progress callback that reports to the client, and ends the thread when the client cancels."""

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context
        self._reported = 0.0
        self._reached = -1

    def __call__(self, progress: Progress) -> None:
        """Report the sum of the passages and sources done, a number that always grows."""
        from_thread.check_cancelled()
        reached = progress.sources_done + progress.chunks_done
        now = time.monotonic()
        if reached <= self._reached or now - self._reported < PACE:
            return
        self._reported, self._reached = now, reached
        total = progress.sources_total + progress.chunks_total
        from_thread.run(partial(self._context.report_progress, reached, total, _message(progress)))


def allowed_source(source: str, roots: Sequence[Path]) -> str:
    """Return the URL, or the real path of a file or folder under the roots. Raise ToolError."""
    if source.lower().startswith(("http://", "https://")):
        return source
    try:
        for root in roots:
            path = (root / os.path.expanduser(source)).resolve()
            if path.is_relative_to(root):
                return str(path)
    except (OSError, ValueError, RuntimeError) as error:
        raise ToolError("This is not a valid path. Name a file under the server's roots.") from error
    if not roots:
        raise ToolError("Only sites can be added here. To add files, start the server with --root FOLDER.")
    raise ToolError(
        f"Only files under {', '.join(map(str, roots))} can be added. Start the server with another --root."
    )


def _message(progress: Progress) -> str:
    name = " ".join(progress.source.rsplit("/", 1)[-1].split()) or progress.source
    if not progress.document_total:
        return f"reading {name}"
    return f"{name}: passage {progress.document_done} of {progress.document_total}"
