"""Presentations (.pptx, .odp) → Document: each slide under its title, with text, tables and the speaker's notes.

There is a part for each slide. Placeholders come in the order of the file, then text boxes, groups and tables column by
column from top to bottom, then diagrams; charts are tables of their values. Dates, footers, slide numbers, pictures,
comments and macros are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from answerable.datatypes import Document, DocumentType, PartKind, Span
from answerable.errors import EmptySource
from answerable.sources.context import ReadContext
from answerable.sources.markdown import table
from answerable.sources.office.charts import charts
from answerable.sources.office.odf import attribute, blocks_of, paragraph_text, properties
from answerable.sources.office.packages import Package, main_part, on_a_line, refuse_container, related, relations
from answerable.sources.text import PartedText, make_document
from answerable.sources.xml import local_name, relation_id, whole_number
from answerable.text.notation import LOWERED, RAISED, STRUCK
from answerable.text.numerals import SHAPES, number_text


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide with its number from 1. `blocks` are Markdown paragraphs, lists and tables; `notes` are the speaker's."""

    number: int
    title: str
    blocks: Sequence[str]
    notes: Sequence[str] = ()
    is_hidden: bool = False


def slides_document(slides: Sequence[Slide], source: str, title: str, metadata: dict[str, str]) -> Document:
    """Return the document of slides in this order; slides without any text are left out. Raises EmptySource."""
    written = PartedText()
    for slide in slides:
        if text := _text(slide):
            written.write("\n\n" if written.parts else "")
            headings = (slide.title[:1_000],) if slide.title else ()
            written.part(text, PartKind.SLIDE, page=slide.number, headings=headings)
    if not written.parts:
        raise EmptySource(
            f"{source} holds no text: if its slides are pictures, save it as PDF, run OCR on that, and add the PDF"
        )
    metadata = {**metadata, "slides": str(len(slides))}
    title = title or next((slide.title for slide in slides if slide.title), "")
    return make_document(source, written.content, DocumentType.SLIDES, written.parts, title, metadata)


def _text(slide: Slide) -> str:
    blocks = [block for block in slide.blocks if block]
    notes = [note for note in slide.notes if note]
    if not (slide.title or blocks or notes):
        return ""
    hidden = " (hidden slide)" if slide.is_hidden else ""
    heading = f"# {slide.title or f'Slide {slide.number}'}{hidden}"
    noted = ["\n".join(("Speaker notes:", *notes))] if notes else []
    return "\n\n".join((heading, *blocks, *noted))


_ADVICE_PPTX = "open it in PowerPoint or LibreOffice, save it again as .pptx or PDF, and add that file"
_PPTX_UNREAD = frozenset({"dt", "ftr", "sldNum", "hdr"})
_TITLES = ("title", "ctrTitle")


def read_pptx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a presentation.

    Raises EncryptedSource, DamagedSource, SourceTooLarge, EmptySource; UnsupportedSource for a format before 2007.
    """
    refuse_container(data, source, ".ppt")
    with Package(data, source, context, _ADVICE_PPTX, "presentation") as package:
        main, title, metadata = main_part(package, "presentation")
        slides = list(_slides(package, main))
    return slides_document(slides, source, title, metadata)


def _slides(package: Package, main: str) -> Iterator[Slide]:
    parts = {key: path for key, kind, path in relations(package, main) if kind == "slide"}
    keys = map(relation_id, package.xml(main).iter("{*}sldId"))
    # A hostile presentation may show the same slide many times.
    paths = dict.fromkeys(parts[key] for key in keys if key in parts)
    for number, path in enumerate(islice(paths, 10_000), 1):
        yield _pptx_slide(package, path, number)


def _pptx_slide(package: Package, path: str, number: int) -> Slide:
    root = package.xml(path)
    other, drawn = related(package, path), charts(package, path)
    title = ""
    blocks: list[str] = []
    for shape in _shapes(root):
        kind = _placeholder(shape)
        if kind in _PPTX_UNREAD:
            continue
        if local_name(shape) == "tbl":
            blocks.append(table(_rows(shape)))
        elif local_name(shape) == "chart":
            blocks += drawn.get(relation_id(shape), ())
        elif kind in _TITLES and not title:
            title = " ".join(line.strip(" -") for line in _paragraphs(shape))
        else:
            blocks.append("\n".join(_paragraphs(shape)))
    if "diagramData" in other:
        points = package.xml(other["diagramData"]).iter("{*}t")
        blocks.append("\n".join(text for point in points if (text := " ".join("".join(point.itertext()).split()))))
    notes: list[str] = []
    if "notesSlide" in other:
        for shape in _shapes(package.xml(other["notesSlide"])):
            if _placeholder(shape) == "body":
                notes += _paragraphs(shape)
    return Slide(number, title, blocks, notes, root.get("show") in ("0", "false"))


def _rows(grid: Any) -> list[list[str]]:
    """Return the texts of a table's cells; a cell merged over several rows is repeated in each."""
    rows: list[list[str]] = []
    for row in grid.iterchildren("{*}tr"):
        above = rows[-1] if rows else []
        rows.append(
            [
                above[at] if cell.get("vMerge") in ("1", "true") and at < len(above) else " ".join(_paragraphs(cell))
                for at, cell in enumerate(row.iterchildren("{*}tc"))
            ]
        )
    return rows


def _shapes(container: Any) -> Iterator[Any]:
    """Yield the shapes that have text, tables and charts, also those within groups."""
    groups = ("cSld", "spTree", "grpSp", "AlternateContent", "Choice")
    shapes = (each for each in container.iterchildren("*") if local_name(each) in ("sp", "graphicFrame", *groups))
    for shape in _in_reading_order(shapes, _pptx_place):
        if local_name(shape) in groups:
            yield from _shapes(shape)
        elif local_name(shape) == "graphicFrame":
            yield from shape.iter("{*}tbl", "{*}chart")
        elif shape.find("{*}txBody") is not None:
            yield shape


def _pptx_place(shape: Any) -> Sequence[int]:
    place = () if _placeholder(shape) in _TITLES else next(shape.iter("{*}xfrm"), ())
    # A group also states the coordinates of what is in it.
    own = (each for each in place if local_name(each) in ("off", "ext"))
    stated = {name: text for each in own for name, text in each.items() if text.lstrip("-").isdecimal()}
    return [int(stated[name][:15]) for name in ("x", "y", "cx", "cy") if name in stated]


def _placeholder(shape: Any) -> str:
    """Return the role of a placeholder: title, body, ftr …; "" for an ordinary shape."""
    found = shape.find("*/{*}nvPr/{*}ph")
    return "" if found is None else found.get("type", "obj")


def _paragraphs(element: Any) -> list[str]:
    """Return the paragraphs of a shape or cell; indented paragraphs become list items."""
    lines = []
    counts: dict[int, int] = {}
    for paragraph in element.iter("{*}p"):
        text = on_a_line(_runs(paragraph))
        if text:
            found = paragraph.find("{*}pPr")
            depth = 0 if found is None else min(whole_number(found.get("lvl")), 8)
            number = _number(None if found is None else found.find("{*}buAutoNum"), depth, counts)
            lines.append(f"{'  ' * (depth - 1)}{number or '- '}{text}" if depth or number else text)
    return lines


_AUTOMATIC = re.compile(r"(arabic|alpha|roman)(Lc|Uc|)(Period|ParenR|ParenBoth|Plain)")
_NUMERALS = dict(zip("arabic alphaLc alphaUc romanLc romanUc".split(), SHAPES.values(), strict=True))
_AROUND = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")"), "Plain": ("", "")}


def _number(automatic: Any, depth: int, counts: dict[int, int]) -> str:
    """Return the number of a paragraph and a space, "" if it has none; `counts` has the last number of each level."""
    for ended in [each for each in counts if each > depth or (each == depth and automatic is None)]:
        del counts[ended]
    found = None if automatic is None else _AUTOMATIC.fullmatch(automatic.get("type", ""))
    if found is None:
        return ""
    counts[depth] = counts[depth] + 1 if depth in counts else whole_number(automatic.get("startAt"), 1)
    before, after = _AROUND[found[3]]
    return f"{before}{number_text(counts[depth], _NUMERALS.get(found[1] + found[2], 'decimal'))}{after} "


def _runs(paragraph: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the texts of a paragraph, and how each is marked."""
    for element in paragraph.iter("{*}t", "{*}br", "{*}tab"):
        style = element.find("../{*}rPr")
        look = {} if style is None else style.attrib
        height = look.get("baseline", "0")
        kinds = [] if height.strip("0%") == "" else [LOWERED if height.startswith("-") else RAISED]
        kinds += [STRUCK] * (look.get("strike", "noStrike") != "noStrike")
        yield element.text or "" if local_name(element) == "t" else " ", kinds


_ADVICE_ODP = "open it in LibreOffice, save it again as .odp, .pptx or PDF, and add that file"
_LENGTH = re.compile(r"(-?\d{1,6}(?:\.\d{0,9})?)(cm|mm|in|pt)")
_UNITS = {"cm": 10_000, "mm": 1_000, "in": 25_400, "pt": 353}  # thousandths of a millimetre
_ODP_UNREAD = frozenset({"header", "footer", "date-time", "page-number", "page", "notes"})


def read_odp(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a presentation. Raises EncryptedSource, DamagedSource, SourceTooLarge and EmptySource."""
    with Package(data, source, context, _ADVICE_ODP, "presentation") as package:
        title, metadata = properties(package)
        root = package.xml("content.xml")
        hidden = {
            attribute(style, "name")
            for style in root.iter("{*}style")
            if any(attribute(each, "visibility") == "hidden" for each in style.iterchildren())
        }
        pages = (page for each in root.iter("{*}presentation") for page in each.iterchildren("{*}page"))
        slides = [_odp_slide(page, number, hidden) for number, page in enumerate(pages, 1)]
    return slides_document(slides, source, title, metadata)


def _odp_slide(page: Any, number: int, hidden: set[str]) -> Slide:
    title = ""
    blocks: list[str] = []
    notes: list[str] = []
    for child in _in_reading_order(page.iterchildren("*"), _odp_place):
        if local_name(child) == "notes":
            notes = [
                text
                for frame in child.iterchildren("{*}frame")
                if attribute(frame, "class") == "notes"
                for text in _lines(frame)
            ]
        elif attribute(child, "class") == "title" and not title:
            title = " ".join(_lines(child))
        elif attribute(child, "class") not in _ODP_UNREAD:
            blocks += blocks_of(child)
    return Slide(number, title, blocks, notes, attribute(page, "style-name") in hidden)


def _odp_place(shape: Any) -> Sequence[int]:
    names = () if attribute(shape, "class") else ("x", "y", "width", "height")
    stated = (_LENGTH.fullmatch(attribute(shape, name)) for name in names)
    return [int(float(length[1]) * _UNITS[length[2]]) for length in stated if length]


def _lines(element: Any) -> list[str]:
    return [text.replace("\n", " ") for each in element.iter("{*}p", "{*}h") if (text := paragraph_text(each))]


# A shape, its left and right, and its top and bottom edge, in any unit.
_Placed = tuple[Any, Span, Span]
_DEEPEST = 8  # how often columns are looked for within columns: slides have two or three such levels
_MOST_PLACED = 500  # shapes; more are read from top to bottom, because each band is compared with those above it


def _in_reading_order(shapes: Iterable[Any], place: Callable[[Any], Sequence[int]]) -> list[Any]:
    """Return first the shapes without `place` (left, top, width, height) as they are, then the others as people read.

    Columns are read from left to right, each from top to bottom; a shape as wide as several columns divides them.
    """
    natural: list[Any] = []
    placed: list[_Placed] = []
    for shape in shapes:
        match place(shape):
            case [left, top, width, height]:
                placed.append((shape, (left, left + width), (top, top + height)))
            case _:
                natural.append(shape)
    return natural + _ordered(placed, 0)


def _ordered(placed: Sequence[_Placed], depth: int) -> list[Any]:
    if depth < _DEEPEST and len(placed) <= _MOST_PLACED:
        groups = _columns(placed)
        if len(groups) < 2:
            groups = []
            for band in _cut(placed, down=True):
                if groups and len(_columns(groups[-1] + band)) > 1:
                    groups[-1] += band
                else:
                    groups.append(band)
        if len(groups) > 1:
            return [shape for group in groups for shape in _ordered(group, depth + 1)]
    return [shape for shape, _, _ in sorted(placed, key=lambda each: (each[2][0], each[1][0]))]


def _columns(placed: Sequence[_Placed]) -> list[list[_Placed]]:
    """Return the columns, from left to right, if all are next to each other; otherwise none."""
    found = _cut(placed)
    tops = (min(top for _, _, (top, _) in column) for column in found)
    bottoms = (max(bottom for _, _, (_, bottom) in column) for column in found)
    return found if found and max(tops) < min(bottoms) else []


def _cut(placed: Sequence[_Placed], down: bool = False) -> list[list[_Placed]]:
    """Divide shapes at the gaps that none of them crosses with more than a tenth: text seldom fills its shape."""
    groups: list[list[_Placed]] = []
    reached = 0
    for each in sorted(placed, key=lambda each: each[1 + down]):
        first, last = each[1 + down]
        slack = (last - first) // 10
        if not groups or first + slack >= reached:
            groups.append([])
        groups[-1].append(each)
        reached = max(reached, last - slack)
    return groups
