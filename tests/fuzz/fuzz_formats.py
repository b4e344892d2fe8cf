"""Fuzz every format with random bytes: its recognition and its file reader."""

from __future__ import annotations

# Loaded before anything is watched: they open libraries.
import pypdfium2  # type: ignore[import-untyped]  # noqa: F401
import trafilatura  # noqa: F401
from draw import Draw
from fuzz_targets import Target
from reading_here import read_file
from soundness import assert_sound

from answerable.formats.built_in import FORMATS
from answerable.sources.context import ReadContext
from answerable.sources.dispatch import read_bytes
from answerable.sources.formats import SAMPLE, recognise


def _any(draw: Draw) -> None:
    form = draw.pick([form for form in FORMATS if form.suffixes and not form.is_archive])
    name = f"/in/a{draw.pick(form.suffixes)}"
    data = draw.rest() or b" "
    recognise(data[:SAMPLE], name)
    documents = read_bytes(data, name, ReadContext(), known=form) if form.read else read_file(data, source=name)
    for document in documents:
        assert_sound(document)


TARGETS = {"formats": Target(_any, (b"\0" * 60, bytes(range(200))))}
