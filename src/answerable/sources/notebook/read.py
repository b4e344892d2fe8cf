"""Jupyter notebooks (nbformat 3 and 4) → Document: the text of the cells, a part for each, numbered from 1.

A Markdown cell is its source; code and what it printed are in fences. Under a heading in a cell begins another part of
that cell. See nbformat.readthedocs.io.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import DamagedSource, EmptySource
from answerable.sources.markdown import Heading, find_headings
from answerable.sources.notebook.outputs import clean, joined, output_texts
from answerable.sources.text import stem

_ADVICE = "open it in Jupyter and save it again, or export it as Markdown and add that"
_MAY_HAVE_HEADINGS = re.compile(r"^ {0,3}(?:#{1,6}[ \t]|=+[ \t]*$|-+[ \t]*$)", re.MULTILINE)
_FENCES = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_LONGEST_TITLE = 1_000
_MOST_CELLS = 100_000


def read_notebook(content: str, source: str) -> Document:
    """Return a document with the cells as parts. Raise DamagedSource and EmptySource."""
    notebook = _parsed(content, source)
    cells = list(_cells(notebook))
    metadata = notebook.get("metadata")
    facts = metadata if isinstance(metadata, Mapping) else {}
    text = _Text(_language(facts))
    for number, cell in enumerate(cells[:_MOST_CELLS], 1):
        text.add(number, cell)
    made = text.content
    if not made.strip():
        raise EmptySource(f"{source} has no cell with text: save it with its cells, or leave it out")
    title = clean(str(facts.get("title") or "")).strip() or text.title or stem(source)
    return Document(
        document_id(source, made),
        made,
        source,
        title,
        DocumentType.NOTEBOOK,
        metadata={"programming_language": text.language} if text.language else {},
        parts=tuple(text.parts),
    )


def _parsed(content: str, source: str) -> Mapping[str, Any]:
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise DamagedSource(f"{source} is not a valid notebook ({reason}): {_ADVICE}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        raise DamagedSource(f"{source} is not a notebook (it has no list of cells): {_ADVICE}")
    return notebook


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the cells; the third version has them in worksheets."""
    sheets = notebook["worksheets"] if "cells" not in notebook else [notebook]
    for sheet in sheets:
        cells = sheet.get("cells") if isinstance(sheet, dict) else None
        for cell in cells if isinstance(cells, list) else ():
            yield cell if isinstance(cell, dict) else {}


def _language(metadata: Mapping[str, Any]) -> str:
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        facts = metadata.get(key)
        value = facts.get(name) if isinstance(facts, Mapping) else None
        if isinstance(value, str) and _LANGUAGE.fullmatch(value):
            return value
    return ""


class _Text:
    """The text made of the cells so far, and its parts."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.parts: list[Part] = []
        self.title = ""
        self._pieces: list[str] = []
        self._length = 0
        self._path: list[Heading] = []

    @property
    def content(self) -> str:
        """The text."""
        return "".join(self._pieces)

    def add(self, number: int, cell: Mapping[str, Any]) -> None:
        """Add the text of a cell, if it has any."""
        source = joined(cell.get("source", cell.get("input"))).strip("\n").rstrip()
        kind = cell.get("cell_type")
        if kind == "code":
            self.language = self.language or _own_language(cell)
            if source:
                self._fenced(number, source, self.language)
            for output in output_texts(cell.get("outputs")):
                self._fenced(number, output, "")
        elif source.strip():
            level = cell.get("level")
            if kind == "heading":
                source = f"{'#' * min(max(level if isinstance(level, int) else 1, 1), 6)} {' '.join(source.split())}"
            self._markdown(number, source, has_headings=kind != "raw")

    def _markdown(self, number: int, text: str, has_headings: bool) -> None:
        start = self._begin()
        is_marked = has_headings and _MAY_HAVE_HEADINGS.search(text)
        headings = list(find_headings(text)) if is_marked else []
        first = headings[0].start if headings else len(text)
        if text[:first].strip():
            self._part(number, start, start + first)
        ends = [*(each.start for each in headings[1:]), len(text)]
        for heading, end in zip(headings, ends, strict=False):
            while self._path and self._path[-1].level >= heading.level:
                self._path.pop()
            if heading.title:
                self._path.append(replace(heading, title=heading.title[:_LONGEST_TITLE]))
                self.title = self.title or (heading.title if heading.level == 1 else "")
            self._part(number, start + heading.start, start + end)
        self._write(text)

    def _fenced(self, number: int, text: str, language: str) -> None:
        fence = "`" * max([3, *(len(found[1]) + 1 for found in _FENCES.finditer(text))])
        start = self._begin()
        self._write(f"{fence}{language}\n")
        body = self._length
        self._write(text)
        self._part(number, start, self._length, body)
        self._write(f"\n{fence}")

    def _part(self, number: int, start: int, end: int, body: int | None = None) -> None:
        path = tuple(each.title for each in self._path)
        self.parts.append(Part(start, end, PartKind.CELL, page=number, headings=path, body=body))

    def _begin(self) -> int:
        if self._pieces:
            self._write("\n\n")
        return self._length

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


def _own_language(cell: Mapping[str, Any]) -> str:
    """Return the language that a cell of the third version names."""
    value = cell.get("language")
    return value if isinstance(value, str) and _LANGUAGE.fullmatch(value) else ""
