"""Read files in the test's own process, by the code of the reading process, which takes a quarter second to start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from answerable.datatypes import Document
from answerable.disk.files import source_of
from answerable.sources.context import ReadContext
from answerable.sources.html.parse import parse_page, valid_markup
from answerable.sources.process.answers import Answers, gather
from answerable.sources.process.worker import answer


def read_file(file: Path | bytes, context: ReadContext | None = None, source: str | None = None) -> list[Document]:
    """The documents in a file, given by path or bytes. Raises SourceError; members that can't be read are skipped.

    The source of a path is the absolute path.
    """
    used = context or ReadContext()
    data, path = (file, None) if isinstance(file, bytes) else (b"", str(file))
    named = (source_of(file) if isinstance(file, Path) else "") if source is None else source

    def ask(passed: Sequence[int], lost: Sequence[str]) -> Answers:
        request = {"ask": "read", "source": named, "path": path, "url": None, "passed": passed, "lost": lost}
        answers: list[tuple[dict[str, object], bytes]] = []
        last = answer(
            {**request, "context": used.pack()},
            data,
            lambda message, content=b"": answers.append((message, content)),
            lambda bounds: None,
        )
        yield from (*answers, (last, b""))

    return gather(ask, named, used)


def parsed(page: bytes | str) -> LexborHTMLParser:
    """A web page as the reader parses it."""
    return parse_page(valid_markup(page, "page"))
