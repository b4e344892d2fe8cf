"""Fuzz plug-ins: whatever one returns or raises, documents are valid or the error names the plug-in."""

from __future__ import annotations

import math
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any

from draw import Draw
from fuzz_targets import Target
from soundness import assert_sound

from answerable.datatypes import Document, Part, PartKind, document_id
from answerable.errors import SettingsError, SourceError
from answerable.formats.format import Format
from answerable.formats.registry import checked
from answerable.plugins import SOURCES, Plugin
from answerable.sources.context import ReadContext

SOURCE = "/in/a.fountain"
PLUGIN = Plugin(SOURCES, "fountain", "answerable-fountain", "1", EntryPoint("fountain", "fountain:read", SOURCES))
WORDS = ("INT. KITCHEN", "\n\n", "Ana", "\ud800", " ", "é", "\0")
ENDS = (0, 1, 2, 7, -1, 1_000_000)
VALUES: tuple[Any, ...] = ("a", 1, math.nan, None, b"bytes", {1, 2}, ["a", {"b": object()}], {"a": "\ud800"})
BROKEN = SourceError("/in/a.fountain is broken")
ERRORS = (ValueError("\ud800"), KeyError(), BROKEN, SettingsError("set it"))


def _plugin(draw: Draw) -> None:
    form = Format(name="fountain", suffixes=(".fountain",), read=partial(_read, draw))
    try:
        documents = checked(PLUGIN, form)(b"INT. KITCHEN", SOURCE, ReadContext())
    except SourceError as error:
        assert SOURCE in str(error)
        assert str(PLUGIN) in str(error) or error is BROKEN
        raise
    for document in documents:
        assert document.metadata["format"] == "fountain"
        if document.content.strip():
            assert_sound(document)


def _read(draw: Draw, data: bytes, source: str, context: ReadContext) -> Any:
    if not draw.number(9):
        raise draw.pick(ERRORS)
    if not draw.number(9):
        return draw.pick((None, "text", 3, [None], [data]))
    return [_document(draw, source) for _ in range(draw.number(3))]


def _document(draw: Draw, source: str) -> Document:
    content = draw.pick((f"INT. KITCHEN{draw.text(WORDS, 3)}", "INT. KITCHEN\n\nAna", " "))
    place = draw.pick((source, source, f"{source}#2", "/etc/passwd"))
    parts = [
        Part(draw.pick(ENDS), draw.pick(ENDS), PartKind.SECTION, headings=(draw.pick(WORDS),))
        for _ in range(draw.number(3))
    ]
    # Sorted ones are more often in order.
    parts.sort(key=lambda part: (part.start, part.end))
    metadata = {"a": draw.pick(VALUES)} if draw.number(1) else {}
    return Document(document_id(place, content), content, place, metadata=metadata, parts=tuple(parts))


TARGETS = {"plugin": Target(_plugin, (bytes(range(1, 200)), b"\1" * 99, bytes(range(250, 0, -1))))}
