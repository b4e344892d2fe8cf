"""Jupyter notebooks (nbformat 4, since 2015) → Document: the text of the cells, a part for each cell, numbered from 1.

A Markdown cell contributes its source; the code and the printed output of a code cell are in fences. A heading within a
cell begins another part. Pictures, other binary outputs and the tracebacks of errors are left out. See
nbformat.readthedocs.io.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
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
    title = clean(str(facts.get("title") or "")).strip() or text.title
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
        source = joined(cell.get("source")).strip("\n").rstrip()
        kind = cell.get("cell_type")
        if kind == "code":
            if source:
                self._fenced(number, source, self.language)
            for output in output_texts(cell.get("outputs")):
                self._fenced(number, output[:LONGEST], "")
                self.left_out.append((LeftOutKind.RESULT, len(output) > LONGEST))
            self.left_out += pictures(cell.get("outputs"))
        elif source.strip():
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
                self._path.append(replace(heading, title=heading.title[:1_000]))
                self.title = self.title or (heading.title if heading.level == 1 else "")
            self._part(number, start + heading.start, start + end)
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


def joined(value: Any) -> str:
    """Return the string that a notebook stores as one string or as a list of lines."""
    text = "".join(line for line in value if isinstance(line, str)) if isinstance(value, list) else value
    return clean(text) if isinstance(text, str) else ""


def clean(text: str) -> str:
    """Return the text with plain line ends, without control characters and surrogates; pictures become their names."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    text = text.replace("\r\n", "\n")
    if "data:" in text or "attachment:" in text:
        text = _PICTURE.sub(r"\1", text)
    return _CONTROLS.sub("", text.replace("\r", "\n"))


def output_texts(outputs: Any) -> Iterator[str]:
    """Yield the text of each output of a cell that has any text."""
    for output in outputs if isinstance(outputs, list) else ():
        text = _text(output) if isinstance(output, Mapping) else ""
        if text.strip():
            yield text.strip("\n").rstrip()


def pictures(outputs: Any) -> Iterator[tuple[LeftOutKind, int]]:
    """Yield one for each output of a cell that is a picture."""
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, Mapping) and _is_picture(output.get("data")):
            yield LeftOutKind.PICTURE, 1


def _text(output: Mapping[str, Any]) -> str:
    match output.get("output_type"):
        case "stream":
            return _printed(output.get("text"))
        case "error":
            return clean(_plain(f"{output.get('ename') or 'Error'}: {output.get('evalue') or ''}"))
        case "execute_result" | "display_data":
            return _result(output.get("data"))
    return ""


def _result(formats: Any) -> str:
    """Return the Markdown or plain text of a result; "" for a picture."""
    if not isinstance(formats, Mapping) or _is_picture(formats):
        return ""
    texts = (joined(formats.get(name)) for name in ("text/markdown", "text/plain", "text/latex"))
    return _plain(next(filter(None, texts), ""))


def _is_picture(formats: Any) -> bool:
    return isinstance(formats, Mapping) and any(name.startswith(("image/", "application/pdf")) for name in formats)


def _printed(value: Any) -> str:
    """Return printed output as a terminal shows it: only the last state of a line that was overwritten."""
    raw = "".join(line for line in value if isinstance(line, str)) if isinstance(value, list) else value
    if not isinstance(raw, str):
        return ""
    raw = _plain(raw)
    if "\r" in raw:
        lines = raw.replace("\r\n", "\n").split("\n")
        raw = "\n".join(next(filter(None, reversed(line.split("\r"))), "") for line in lines)
    return clean(raw)


def _plain(text: str) -> str:
    """Return the text without the escape sequences of colours."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text
