"""A folder of Markdown → the passages of the book."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from posixpath import normpath

from answerable.datatypes import Chunk, Document
from answerable.errors import EmptySource
from answerable.protocols import TextSplitter
from answerable.settings import Settings as EngineSettings
from answerable.wiring.build import build_reader, build_splitter
from src.passages import Passage

_MARKDOWN = (".md", ".mdx", ".markdown")
_FRONT_MATTER = re.compile(r"---[ \t]*\n.*\n(?:---|\.\.\.)\s*", re.DOTALL)


def read_book(folder: Path, settings: EngineSettings) -> list[Passage]:
    """The passages of all pages under a folder, in the order of files and text; sources begin with its name.

    Pages are those that Docusaurus would list: no drafts, nothing unlisted, and of files and folders whose names begin
    with `_` only what a page imports, as a part of that page. Hidden files, and what a `.gitignore` names, are left
    out, and so are files that hold no text. Raises SourceError for one that can't be read, EmptySource where there is
    nothing.
    """
    splitter = build_splitter(settings)
    with closing(build_reader(settings, folder.parent)) as reader:
        items = [item for item in reader.listing(str(folder)) if item.name.lower().endswith(_MARKDOWN)]
        files: dict[str, Document] = {}
        for item in items:
            with suppress(EmptySource):
                files.update((document.source, document) for document in item.read())
    pages = [document for document in files.values() if _is_page(document)]
    found = [passage for page in pages for shown in _shown(page, files) for passage in _passages(shown, page, splitter)]
    if not found:
        raise EmptySource(
            f"{folder} holds no Markdown with text. Set BOOK_DOCS_PATH to the folder of the book's pages."
        )
    return found


def _is_page(document: Document) -> bool:
    is_partial = any(step.startswith("_") for step in document.source.split("/")[1:])
    is_hidden = any(document.metadata.get(mark, "").lower() == "true" for mark in ("draft", "unlisted"))
    return not is_partial and not is_hidden


def _shown(page: Document, files: Mapping[str, Document]) -> list[Document]:
    """The page, and the files that it imports, and those that they import, each once."""
    found = {page.source: page}
    waiting = [page]
    while waiting:
        document = waiting.pop()
        for name in filter(None, document.metadata.get("includes", "").split(", ")):
            # `@site` is the folder that the book's own stands in.
            path = name.removeprefix("@site/") if name.startswith("@site/") else f"{document.source}/../{name}"
            included = files.get(normpath(path))
            if included and included.source not in found:
                found[included.source] = included
                waiting.append(included)
    return list(found.values())


def _passages(document: Document, page: Document, splitter: TextSplitter) -> Iterator[Passage]:
    begins = _front_matter_end(document)
    title = " ".join(page.title.split())
    for chunk in splitter.split(document):
        if chunk.end > begins and any(character.isalnum() for character in chunk.content):
            yield Passage(chunk.content, page.source, title, _section(chunk, title))


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
