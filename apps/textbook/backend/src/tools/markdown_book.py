"""A folder of Markdown → the passages of the book."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from answerable.build import build_reader, build_splitter
from answerable.datatypes import Chunk, Document
from answerable.errors import EmptySource
from answerable.protocols import TextSplitter
from answerable.settings import Settings as EngineSettings
from src.passages import Passage

_MARKDOWN = (".md", ".mdx", ".markdown")
_FRONT_MATTER = re.compile(r"---[ \t]*\n.*\n(?:---|\.\.\.)\s*", re.DOTALL)


def read_book(folder: Path, settings: EngineSettings) -> list[Passage]:
    """The passages of all Markdown under a folder, in the order of files and text; sources begin with its name.

    Hidden files, and what a `.gitignore` names, are left out, and so are files that hold no text. Raises SourceError
    for one that can't be read, EmptySource where there is nothing.
    """
    splitter = build_splitter(settings)
    with closing(build_reader(settings, folder.parent)) as reader:
        items = [item for item in reader.listing(str(folder)).items if item.name.lower().endswith(_MARKDOWN)]
        found: list[Passage] = []
        for item in items:
            try:
                documents = item.read()
            except EmptySource:
                continue
            for document in documents:
                found += _passages(document, splitter)
    if not found:
        raise EmptySource(
            f"{folder} holds no Markdown with text. Set BOOK_DOCS_PATH to the folder of the book's pages."
        )
    return found


def _passages(document: Document, splitter: TextSplitter) -> Iterator[Passage]:
    begins = _front_matter_end(document)
    title = " ".join(document.title.split())
    for chunk in splitter.split(document):
        if chunk.end > begins and any(character.isalnum() for character in chunk.content):
            yield Passage(chunk.content, document.source, title, _section(chunk, title))


def _front_matter_end(document: Document) -> int:
    """Where the text begins behind the front matter, which is the document's first part if there is any."""
    first = document.parts[0] if document.parts else None
    if first is None or first.start or first.headings:
        return 0
    return first.end if _FRONT_MATTER.fullmatch(document.content[: first.end]) else 0


def _section(chunk: Chunk, title: str) -> str:
    """The headings over most of a passage, less the page's own."""

    def length(number: int) -> int:
        part = chunk.parts[number]
        return min(part.end, chunk.end) - max(part.start, chunk.start)

    if not chunk.parts:
        return ""
    headings = chunk.parts[max(range(len(chunk.parts)), key=length)].headings
    steps = [" ".join(step.split()) for step in headings]
    return " › ".join(steps[1:] if steps and steps[0].casefold() == title.casefold() else steps)
