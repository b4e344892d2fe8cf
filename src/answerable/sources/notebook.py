"""Jupyter notebooks (nbformat 4, since 2015) → Document: the text of the cells, a part for each cell, numbered from 1.

A Markdown cell contributes its source; the code and the printed output of a code cell are in fences. A heading within a
cell begins another part. Pictures, other binary outputs and the tracebacks of errors are left out. See
nbformat.readthedocs.io.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.errors import DamagedSource, EmptySource
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.markdown import Heading, find_headings
from answerable.sources.text import PartedText, make_document

LONGEST = 20_000
"""Characters kept of one output: the logs of a training run are longer."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_PICTURE = re.compile(
    r"!\[([^\[\]\n]{0,500})\]\(\s*(?:data|attachment):[^()\n]*\)|\bdata:image/[\w.+-]{1,50};base64,[\w+/=]*"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OVERWRITTEN = re.compile(r"^[^\n]*\r(?=[^\r\n])", re.MULTILINE)
_ADVICE = "open it in Jupyter and save it again, or export it as Markdown and add that"
_MAY_HAVE_HEADINGS = re.compile(r"^ {0,3}(?:#{1,6}[ \t]|=+[ \t]*$|-+[ \t]*$)", re.MULTILINE)
_FENCES = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


def read_notebook(content: str, source: str) -> Document:
    """Return a document with the cells as parts. Raise DamagedSource and EmptySource."""
    notebook = _parsed(content, source)
    metadata = notebook.get("metadata")
    facts = metadata if isinstance(metadata, Mapping) else {}
    text = _Text(_language(facts))
    for number, cell in enumerate(notebook["cells"][:100_000], 1):
        if isinstance(cell, dict):
            text.add(number, cell)
    if not text.content.strip():
        raise EmptySource(f"{source} has no cell with text: save it with its cells, or leave it out")
    title = _string(str(facts.get("title") or "")).strip() or text.title
    named = {"programming_language": text.language} if text.language else {}
    document = make_document(source, text.content, DocumentType.NOTEBOOK, text.parts, title, named)
    return replace(document, left_out=tuple(LeftOut.counted(text.left_out)))


def _parsed(content: str, source: str) -> Mapping[str, Any]:
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise DamagedSource(f"{source} is not a valid notebook ({reason}): {_ADVICE}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise DamagedSource(f"{source} is not a notebook (it has no list of cells): {_ADVICE}")
    return notebook


def _language(metadata: Mapping[str, Any]) -> str:
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        facts = metadata.get(key)
        value = facts.get(name) if isinstance(facts, Mapping) else None
        if isinstance(value, str) and _LANGUAGE.fullmatch(value):
            return value
    return ""


class _Text(PartedText):
    """Collects the text of the cells, and a part for each; in `left_out` what isn't read, with counts that add up."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language
        self.title = ""
        self.left_out: list[tuple[LeftOutKind, int]] = []
        self._path: list[Heading] = []

    def add(self, number: int, cell: Mapping[str, Any]) -> None:
        """Add the text of a cell, if it has any."""
        source = _string(cell.get("source")).strip("\n").rstrip()
        kind = cell.get("cell_type")
        if kind == "code":
            if source:
                self._fenced(number, source, self.language)
            outputs = cell.get("outputs")
            for output in outputs if isinstance(outputs, list) else ():
                if isinstance(output, Mapping) and (text := _printed(output).strip("\n").rstrip()):
                    self._fenced(number, text[:LONGEST], "")
                    self.left_out.append((LeftOutKind.RESULT, len(text) > LONGEST))
                elif isinstance(output, Mapping) and _is_picture(output.get("data")):
                    self.left_out.append((LeftOutKind.PICTURE, 1))
        elif source.strip():
            self._markdown(number, source, has_headings=kind != "raw")

    def _markdown(self, number: int, text: str, has_headings: bool) -> None:
        start = self._begin()
        is_marked = has_headings and _MAY_HAVE_HEADINGS.search(text)
        headings = list(find_headings(text)) if is_marked else []
        cuts = pairwise([0, *(each.start for each in headings), len(text)])
        for heading, (first, last) in zip([None, *headings], cuts, strict=True):
            while heading and self._path and self._path[-1].level >= heading.level:
                self._path.pop()
            if heading and heading.title:
                self._path.append(replace(heading, title=heading.title[:1_000]))
                self.title = self.title or (heading.title if heading.level == 1 else "")
            if heading or text[:last].strip():
                self._part(number, start + first, start + last)
        self.write(text)

    def _fenced(self, number: int, text: str, language: str) -> None:
        fence = "`" * max([3, *(len(found[1]) + 1 for found in _FENCES.finditer(text))])
        start = self._begin()
        self.write(f"{fence}{language}\n")
        body = self.length
        self.write(text)
        self._part(number, start, self.length, body)
        self.write(f"\n{fence}")

    def _part(self, number: int, start: int, end: int, body: int | None = None) -> None:
        path = tuple(each.title for each in self._path)
        self.parts.append(Part(start, end, PartKind.CELL, page=number, headings=path, body=body))

    def _begin(self) -> int:
        if self.length:
            self.write("\n\n")
        return self.length


def _string(value: Any, is_printed: bool = False) -> str:
    """Return the string that a notebook stores as one string or as a list of lines.

    It has plain line ends, and neither colours of a terminal, control characters nor surrogates; pictures become their
    names. Of a printed line that was overwritten only the last state remains, as a terminal shows it.
    """
    text = "".join(line for line in value if isinstance(line, str)) if isinstance(value, list) else value
    if not isinstance(text, str):
        return ""
    text = _ESCAPES.sub("", text).encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")
    text = _OVERWRITTEN.sub("", text) if is_printed else text
    return _CONTROLS.sub("", _PICTURE.sub(r"\1", text.replace("\r", "\n")))


def _printed(output: Mapping[str, Any]) -> str:
    """Return the text of a cell's output; "" for a picture."""
    match output.get("output_type"), output.get("data"):
        case "stream", _:
            return _string(output.get("text"), is_printed=True)
        case "error", _:
            return _string(f"{output.get('ename') or 'Error'}: {output.get('evalue') or ''}")
        case "execute_result" | "display_data", Mapping() as formats:
            if not _is_picture(formats):
                texts = (_string(formats.get(name)) for name in ("text/markdown", "text/plain", "text/latex"))
                return next(filter(None, texts), "")
    return ""


def _is_picture(formats: Any) -> bool:
    return isinstance(formats, Mapping) and any(name.startswith(("image/", "application/pdf")) for name in formats)
