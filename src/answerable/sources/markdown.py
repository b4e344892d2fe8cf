"""Markdown → Document; and how readers of other formats write Markdown: tables, lists, sections with headings.

The content is the Markdown that people see on the file's page (`mdx.py`). Tags, aliases and links of Obsidian notes
(help.obsidian.md), except those in code, also become metadata; they stay in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate, groupby, islice, pairwise, zip_longest
from operator import itemgetter
from textwrap import dedent
from typing import TYPE_CHECKING

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.errors import EmptySource
from answerable.sources.mdx import plain_mdx
from answerable.sources.text import make_document, require_text, stem
from answerable.tables.grid import front_matter, is_header
from answerable.tables.headers import with_one_header
from answerable.text.notation import with_notes

if TYPE_CHECKING:
    from markdown_it.token import Token

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_CODE = re.compile(r"`[^`\n]*`")
# In a table, the bar before a link's text is escaped.
_LINK = re.compile(r"\[\[([^\[\]|#^\n]{1,300}?)(?:[#^][^\[\]|\n]*?)?(?:\\?\|[^\[\]\n]*)?\]\]")
_DAY = re.compile(r"(\d{4})([-_.]?)(\d\d)\2(\d\d)(?!\d)")  # at the start of a note's name
_PAGE_TITLE = re.compile(r"(?:- )?title:: *(\S[^\n]*)")  # of Logseq
_TAG = re.compile(r"(?<!\S)#([\w/-]{1,100})")
_LETTER = re.compile(r"[^\W\d]")
_LISTS = {"tags": "tags", "tag": "tags", "aliases": "aliases", "alias": "aliases"}
# Tags, aliases or links of a note: every passage carries them as metadata.
_MOST = 200


def note_facts(content: str, body: int, front_matter: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the lists `tags` (`home/garden` is also `home`), `aliases` and `links`, without empty lists."""
    facts: dict[str, list[str]] = {}
    for key, name in _LISTS.items():
        values = (value.strip().lstrip("#") for value in front_matter.get(key, "").split(","))
        facts.setdefault(name, []).extend(filter(None, values))
    lines = list(_prose(content, body))
    facts["tags"] += [tag[1] for line in lines if "#" in line for tag in _TAG.finditer(line) if _LETTER.search(tag[1])]
    facts["tags"] = [step for tag in facts["tags"] for step in _with_parents(tag)]
    facts["links"] = [
        link[1].strip().removesuffix(".md") for line in lines if "[[" in line for link in _LINK.finditer(line)
    ]
    unique = {name: list(islice(dict.fromkeys(filter(None, values)), _MOST)) for name, values in facts.items()}
    return {name: values for name, values in unique.items() if values}


def _prose(content: str, body: int) -> Iterator[str]:
    """Yield the lines outside of code that may hold a tag or a link."""
    fence = ""
    for line in content[body:].split("\n"):
        if marker := _FENCE.match(line):
            if not fence:
                fence = marker[1]
            elif marker[1].startswith(fence):
                fence = ""
        elif not fence and ("#" in line or "[[" in line):
            yield _CODE.sub("", line) if "`" in line else line


def _with_parents(tag: str) -> Iterator[str]:
    steps = [step for step in tag.split("/") if step]
    for end in range(len(steps), 0, -1):
        yield "/".join(steps[:end])


# Characters of a heading: every passage under it carries its title.
_LONGEST_TITLE = 1_000
_DEEPEST = 32  # headings in a path
_LINE_END = re.compile(r"\r\n?|\n")
# Docusaurus writes {#id}, and in MDX {/* #id */}.
_CUSTOM_ID = re.compile(r"\s*\{\s*(?:/\*\s*)?#([^\s{}*]+)\s*(?:\*/\s*)?\}\s*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its offset in the content. A smaller `level` is higher; in Markdown, it is 1 to 6."""

    start: int
    level: int
    title: str
    anchor: str | None


def read_markdown(content: str, source: str) -> Document:
    """Return a document with a part for each section and the front matter as metadata. Raise EmptySource."""
    require_text(content, source)
    metadata, body = front_matter(content)
    page, (day, is_daily) = _PAGE_TITLE.match(content), _day(stem(source))
    mdx = plain_mdx(content, body, source.lower().endswith(".mdx"))
    require_text(mdx.content, source)
    content, headings = _without_ids(mdx.content, list(find_headings(mdx.content, body)))
    metadata |= {"includes": ", ".join(mdx.imports)} if mdx.imports else {}
    given = metadata.pop("title", "") or (page[1] if page and not is_daily else "")
    facts = metadata if mdx.is_mdx else {**metadata, **note_facts(content, body, metadata)}
    facts |= {"date": day} if day and "date" not in facts else {}
    title = given or next((each.title for each in headings if each.level == 1), day if is_daily else "")
    parts = section_parts(content, headings, body)
    if is_daily:
        # As if the day were the note's heading, so that each passage carries it.
        parts = tuple(replace(each, headings=(day, *each.headings)) for each in parts)
    if body:
        parts = (Part(0, body, PartKind.SECTION), *parts)
    return make_document(source, content, DocumentType.MARKDOWN, parts, title, facts)


def _day(name: str) -> tuple[str, bool]:
    """Return the day that a note's name begins with, as `2024-03-05`, and whether the name is only that day."""
    found = _DAY.match(name)
    try:
        return (f"{date(*map(int, found.group(1, 3, 4)))}", found.end() == len(name)) if found else ("", False)
    except ValueError:
        return "", False


def section_parts(
    content: str, headings: Sequence[Heading], start: int = 0, end: int | None = None
) -> tuple[Part, ...]:
    """Return one part per heading, up to the next heading, and one part for any text before the first heading."""
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
        path = [*path[: _DEEPEST - 1], heading]
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
        title = _text(inline.children or ())
        custom = _CUSTOM_ID.search(title)
        title = title[: custom.start()] if custom else title
        anchor = custom[1] if custom else anchors.give(title)
        # A heading inside a quotation or a list has an anchor but begins no section.
        if opening.level == 0:
            yield Heading(lines[opening.map[0]], int(opening.tag[1:]), title, anchor)


def _without_ids(content: str, headings: Sequence[Heading]) -> tuple[str, list[Heading]]:
    """Remove custom ids from headings, since pages don't show them; return the text, and headings with new offsets."""
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


def _text(tokens: Iterable[Token]) -> str:
    pieces = (
        " " if token.type in ("softbreak", "hardbreak") else token.content
        for token in tokens
        if token.type in ("text", "text_special", "code_inline", "softbreak", "hardbreak")
    )
    return " ".join("".join(pieces).split())


class Anchors:
    """Makes anchors of headings as GitHub does; repeated anchors end with -1, -2."""

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


MARK = "\ufdd0"
"""Character before each heading while text is still being indented and joined; it occurs in no text."""

MOST_COLUMNS = 63
"""Columns of a table in a word processor's file: Word's own limit."""
_MOST_PADDING = 10  # cells of the padded table per cell before padding; a round number, not measured
_SMALL_TABLE = 10_000  # cells up to which a table is always padded; a round number, not measured
_NOTE_MARK = re.compile(r"\[\^\d+\]")
_ITEM = re.compile(r"- |(?:\d+|[A-Za-z]|[ivx]+|[IVX]+)\. ")


def place_headings(text: str, headings: Sequence[Heading]) -> tuple[str, list[Heading]]:
    """Remove the heading marks from text and strip it; return the text, and the headings with their offsets."""
    pieces = text.lstrip().split(MARK)
    starts = accumulate(map(len, pieces[:-1]))
    placed = [replace(heading, start=start) for heading, start in zip(headings, starts, strict=True)]
    return "".join(pieces).rstrip(), placed


def indented(text: str, marker: str) -> str:
    """Put a marker before the first line of text, and indent the other lines by the marker's length."""
    lines = text.split("\n")
    rest = (" " * len(marker) + line if line else "" for line in lines[1:])
    return "\n".join((marker + lines[0], *rest))


def tight(blocks: Sequence[str]) -> str:
    """Join the blocks of a list item; an inner list follows without a blank line."""
    pieces: list[str] = []
    for block in filter(None, blocks):
        if pieces:
            pieces.append("\n" if _ITEM.match(block) else "\n\n")
        pieces.append(block)
    return "".join(pieces)


def titled(text: str, level: int, headings: list[Heading]) -> str:
    """Return a heading as a block, and add it to `headings` without its marks of notes."""
    line, level = text.replace("\n", " "), min(max(level, 1), 6)
    headings.append(Heading(0, level, " ".join(_NOTE_MARK.sub("", line).split()), None))
    return f"{MARK}{'#' * level} {line}"


def listed(pieces: Iterable[tuple[str, bool]]) -> list[str]:
    """Return pieces of text as blocks, without empty ones; neighbouring list items, as the bools say, are one block."""
    blocks: list[str] = []
    for is_item, run in groupby(pieces, itemgetter(1)):
        texts = [text for text, _ in run]
        blocks += [dedent("\n".join(texts))] if is_item else filter(None, texts)
    return blocks


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with the first row as header; empty rows are left out."""
    grid = [[cell.replace("\n", " ").replace("|", "\\|") for cell in row] for row in rows]
    grid = [row for row in grid if any(row)]
    if not grid:
        return ""
    width = max(map(len, grid))
    if width * len(grid) > _MOST_PADDING * sum(map(len, grid)) + _SMALL_TABLE:
        # One long row among many short rows: don't pad the short rows.
        lines = [f"| {' | '.join(row)} |" for row in grid]
    else:
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in grid]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def table_blocks(cells: Sequence[Sequence[str | None]], in_table: bool = False) -> list[str]:
    """Return a table as blocks: its titles, and the table; its cells if it has one column.

    Inside another table, all rows on one line: `Check the lunches · Miriam; Count the children · Oscar`. None continues
    the cell to its left.
    """
    if in_table:
        return list(filter(None, ["; ".join(filter(None, _as_lines(cells)))]))
    titles, rows = with_one_header(cells)
    if max(map(len, rows), default=0) < 2:
        return [text for row in rows for text in row if text]
    return [*titles, *filter(None, [table(rows)])]


def _as_lines(cells: Sequence[Sequence[str | None]]) -> Iterator[str]:
    """Yield each row as a line: with the names of the columns from three on; two may be a name and its value."""
    rows = [[cell or "" for cell in row] for row in cells]
    is_named = min(map(len, rows), default=0) > 2 and is_header(rows[0], rows[1:])
    names = [f"{name}: " if is_named and name else "" for name in rows[0]] if rows else []
    for row in rows[is_named:]:
        yield " · ".join(name + cell for name, cell in zip_longest(names, row, fillvalue="") if cell)


def sections_document(
    blocks: Sequence[str],
    headings: Sequence[Heading],
    notes: Iterable[tuple[int, str]],
    source: str,
    kind: DocumentType,
    title: str,
    metadata: dict[str, str],
    margins: Sequence[str] = (),
) -> Document:
    """Return a document with parts for sections, `margins` (the texts around pages) and notes. Raise EmptySource."""
    noted = "\n".join(f"[^{number}]: {text}" for number, text in notes)
    text = "\n\n".join(blocks)
    body, headings = place_headings(text if noted else with_notes(text), headings)
    ends = list(filter(None, ("\n\n".join(margins), noted)))
    if not body and not ends:
        raise EmptySource(
            f"{source} holds no text: if its pages are pictures, save it as PDF, run OCR on that, and add the PDF"
        )
    content = "\n\n".join(filter(None, (body, *ends)))
    start = len(content) - sum(map(len, ends)) - 2 * max(len(ends) - 1, 0)
    parts = section_parts(content, headings, 0, start)
    for each in ends:
        start = content.index(each, start)
        parts = (*parts, Part(start, min(start + len(each) + 2, len(content)), PartKind.SECTION))
    title = title or next((each.title for each in headings if each.level == 1), "")
    return make_document(source, content, kind, parts, title, metadata)
