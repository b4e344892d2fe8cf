"""Markdown → Document, and headings → sections for every format with headings.

The content is the Markdown in the file: what readers of the page see, see `mdx.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.sources.mdx import plain_mdx
from answerable.sources.text import require_text, stem
from answerable.sources.wiki_links import note_facts
from answerable.tables.front_matter import front_matter

if TYPE_CHECKING:
    from markdown_it.token import Token

# Every passage under a heading carries its title.
_LONGEST_TITLE = 1_000
_LINE_END = re.compile(r"\r\n?|\n")
# Docusaurus writes {#id}, and in MDX {/* #id */}.
_CUSTOM_ID = re.compile(r"\s*\{\s*(?:/\*\s*)?#([^\s{}*]+)\s*(?:\*/\s*)?\}\s*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its offset in the content. `level` is 1 to 6."""

    start: int
    level: int
    title: str
    anchor: str | None


def read_markdown(content: str, source: str) -> Document:
    """Return a document with a part for each section and the front matter as metadata. Raise EmptySource.

    For MDX, recognised by name or content, the metadata `includes` lists the Markdown files it imports.
    """
    require_text(content, source)
    metadata, body = front_matter(content)
    mdx = plain_mdx(content, body, source.lower().endswith(".mdx"))
    require_text(mdx.content, source)
    content, headings = _without_ids(mdx.content, list(find_headings(mdx.content, body)))
    metadata |= {"includes": ", ".join(mdx.imports)} if mdx.imports else {}
    given = metadata.pop("title", "")
    facts = metadata if mdx.is_mdx else {**metadata, **note_facts(content, body, metadata)}
    title = given or next((each.title for each in headings if each.level == 1), "") or stem(source)
    parts = section_parts(content, headings, body)
    if body:
        parts = (Part(0, body, PartKind.SECTION), *parts)
    return Document(
        document_id(source, content), content, source, title, DocumentType.MARKDOWN, metadata=facts, parts=parts
    )


def section_parts(
    content: str, headings: Sequence[Heading], start: int = 0, end: int | None = None
) -> tuple[Part, ...]:
    """Return one part per heading, up to the next one, and one for any text before the first."""
    parts: list[Part] = []
    path: list[Heading] = []
    end = len(content) if end is None else end
    first = headings[0].start if headings else end
    if content[start:first].strip():
        parts.append(Part(start, first, PartKind.SECTION))
    ends = [*(heading.start for heading in headings[1:]), end]
    for heading, next_start in zip(headings, ends, strict=False):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        titles = tuple(each.title[:_LONGEST_TITLE] for each in path)
        anchor = heading.anchor if heading.anchor and len(heading.anchor) <= _LONGEST_TITLE else None
        parts.append(Part(heading.start, next_start, PartKind.SECTION, headings=titles, anchor=anchor))
    return tuple(parts)


def find_headings(content: str, start: int = 0) -> Iterator[Heading]:
    """Yield the ATX and setext headings of Markdown, with the anchors of GitHub and Docusaurus."""
    from markdown_it import MarkdownIt

    lines = [start, *(match.end() for match in _LINE_END.finditer(content, start))]
    tokens = MarkdownIt("commonmark").enable("table").parse(content[start:])
    anchors = Anchors()
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open" or opening.map is None:
            continue
        title, custom = split_custom_id(_text(inline.children or ()))
        anchor = custom or anchors.give(title)
        # A heading inside a quotation or a list has an anchor but begins no section.
        if opening.level == 0:
            yield Heading(lines[opening.map[0]], int(opening.tag[1:]), title, anchor)


def _without_ids(content: str, headings: Sequence[Heading]) -> tuple[str, list[Heading]]:
    """Remove the ids that headings give themselves, which readers don't see."""
    kept: list[str] = []
    placed: list[Heading] = []
    at = shift = 0
    for heading in headings:
        placed.append(replace(heading, start=heading.start - shift))
        line = _LINE_END.search(content, heading.start)
        own = _CUSTOM_ID.search(content, heading.start, line.start() if line else len(content))
        if own and own[1] == heading.anchor:
            kept.append(content[at : own.start()])
            shift += own.end() - own.start()
            at = own.end()
    return "".join((*kept, content[at:])), placed


def split_custom_id(title: str) -> tuple[str, str | None]:
    """Return a heading's text and its custom id, if any."""
    match = _CUSTOM_ID.search(title)
    return (title[: match.start()], match[1]) if match else (title, None)


def _text(tokens: Iterable[Token]) -> str:
    pieces = (
        " " if token.type in ("softbreak", "hardbreak") else token.content
        for token in tokens
        if token.type in ("text", "text_special", "code_inline", "softbreak", "hardbreak")
    )
    return " ".join("".join(pieces).split())


class Anchors:
    """Makes anchors of headings as GitHub does; repeated ones end with -1, -2."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def give(self, title: str) -> str | None:
        """Return the anchor of the next heading, or None if no character of its title can be used."""
        slug = anchor = "".join(filter(_is_kept, title.strip().lower())).replace(" ", "-")
        while anchor in self._given:
            self._given[slug] += 1
            anchor = f"{slug}-{self._given[slug]}"
        self._given[anchor] = 0
        return anchor or None


def _is_kept(character: str) -> bool:
    category = unicodedata.category(character)
    return character in "- " or category[0] in "LM" or category in ("Nd", "Nl", "Pc")
