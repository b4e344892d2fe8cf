"""Slides → Document: each under its title, with its text, its tables and the speaker's notes; a part for each slide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import EmptySource
from answerable.sources.text import stem

_LONGEST_TITLE = 1_000
_NOTES = "Speaker notes:"


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide with its number from 1. `blocks` are paragraphs, lists and tables of Markdown; `notes` the speaker's."""

    number: int
    title: str
    blocks: Sequence[str]
    notes: Sequence[str] = ()
    is_hidden: bool = False


def slides_document(slides: Sequence[Slide], source: str, title: str, metadata: dict[str, str]) -> Document:
    """Return the document of slides in order; those without any text are left out. Raises EmptySource."""
    pieces: list[str] = []
    parts: list[Part] = []
    position = 0
    for slide in slides:
        text = _text(slide)
        if not text:
            continue
        headings = (slide.title[:_LONGEST_TITLE],) if slide.title else ()
        end = position + len(text)
        parts.append(Part(position, end, PartKind.SLIDE, page=slide.number, headings=headings))
        pieces.append(text)
        position = end + 2
    if not parts:
        raise EmptySource(
            f"{source} holds no text: if its slides are pictures, save it as PDF, run OCR on that, and add the PDF"
        )
    metadata = {**metadata, "slides": str(len(slides))}
    if hidden := [str(slide.number) for slide in slides if slide.is_hidden]:
        metadata["hidden"] = f"slides {', '.join(hidden)}"
    content = "\n\n".join(pieces)
    title = title or next((slide.title for slide in slides if slide.title), "") or stem(source)
    kind = DocumentType.SLIDES
    return Document(document_id(source, content), content, source, title, kind, metadata=metadata, parts=tuple(parts))


def _text(slide: Slide) -> str:
    blocks = [block for block in slide.blocks if block]
    notes = [note for note in slide.notes if note]
    if not (slide.title or blocks or notes):
        return ""
    hidden = " (hidden slide)" if slide.is_hidden else ""
    heading = f"# {slide.title or f'Slide {slide.number}'}{hidden}"
    noted = ["\n".join((_NOTES, *notes))] if notes else []
    return "\n\n".join((heading, *blocks, *noted))
