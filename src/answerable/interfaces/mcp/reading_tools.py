"""Tools that read the library."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Annotated, Any, Optional

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from answerable.datatypes import Answer, Chunk, Document, RetrievalResult, chunk_id
from answerable.interfaces.http.bodies import LONGEST_QUESTION
from answerable.interfaces.mcp.calls import Calls, check_cancelled
from answerable.interfaces.mcp.texts import answer_text, documents_text, passages_text, unavailable_lines
from answerable.interfaces.mcp.tool_outputs import AnswerOutput, DocumentsOutput, PassageOutput, SearchOutput
from answerable.interfaces.plain import Plain, answer_json, narrowing_json, result_json, stored_json, unavailable_json
from answerable.library import Library
from answerable.text.locate import Locator

# Another model must not read a model's unchecked text.
UNCHECKED = ("draft", "checks")
# What a passage has that was found by a search.
_OF_SEARCHES = ("score", "other_places")

Question = Annotated[str, Field(max_length=LONGEST_QUESTION, description="A complete question, in any language.")]
Where = Annotated[
    Optional[dict[str, Any]],
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
    ) -> Annotated[CallToolResult, SearchOutput]:
        """Find the k most relevant passages of the user's documents for a question, best first.

        Use it to explore or gather material. To answer a question, prefer `ask`.
        """
        found = await self._calls.run(self._library.search, question, k, where)
        plain = {"narrowing": narrowing_json(found.narrowing), "results": [result_json(result) for result in found]}
        return result(passages_text(found), plain, found.unavailable)

    async def ask(self, question: Question, where: Where = None) -> Annotated[CallToolResult, AnswerOutput]:
        """Answer a question from the user's documents; each mark [n] is a citation verified word for word.

        If the documents don't answer it, the result says so. Don't fill the gap from elsewhere without saying so.
        """
        found = await self._calls.run(self._answer, question, where)
        plain = {name: value for name, value in answer_json(found).items() if name not in UNCHECKED}
        return result(answer_text(found), plain, found.unavailable)

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
        end: Annotated[Optional[int], Field(ge=1, description="End of the span, exclusive.")] = None,
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
        # Closing the events stops the model.
        with closing(self._library.ask_stream(question, where)) as events:
            for event in events:
                check_cancelled()
                if event.answer is not None:
                    return event.answer
        raise AssertionError("events end with an answer")

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


def result(text: str, plain: Plain, unavailable: Mapping[str, str] | None = None) -> CallToolResult:
    """Return a tool's result: text for the assistant, and the same content as JSON for programs."""
    missing = unavailable or {}
    content = TextContent(type="text", text="\n\n".join((text, *unavailable_lines(missing))))
    return CallToolResult(content=[content], structured_content={**plain, **unavailable_json(missing)})
