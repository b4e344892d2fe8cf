"""PowerPoint presentations (.pptx) → Document: a part for each slide.

The text of shapes, groups, tables and diagrams is read in the order of the file, and the speaker's notes; dates,
footers and numbers of slides, pictures, charts, comments and macros are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.datatypes import Document
from answerable.errors import DamagedSource, SourceError
from answerable.sources.context import ReadContext
from answerable.sources.markdown_blocks import table
from answerable.sources.office.ooxml import local_name, properties, refuse_container, related, relations
from answerable.sources.office.zip_package import Package
from answerable.sources.slides.document import Slide, slides_document

_ADVICE = "open it in PowerPoint or LibreOffice, save it again as .pptx or PDF, and add that file"
_TITLES = ("title", "ctrTitle")
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr"})
_MOST_SLIDES = 10_000
_DEEPEST = 8


def read_pptx(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return a document from a presentation.

    Raises EncryptedSource, DamagedSource, SourceTooLarge, EmptySource, and UnsupportedSource for one before 2007.
    """
    refuse_container(data, source, ".ppt")
    with Package(data, source, (context or ReadContext()).limits.max_file_size, _ADVICE) as package:
        try:
            found = related(package, "")
            if "officeDocument" not in found:
                raise ValueError("it names no presentation")
            slides = list(_slides(package, found["officeDocument"]))
            title, metadata = properties(package, found.get("core-properties"))
        except SourceError:
            raise
        except Exception as error:
            # Hostile XML may be nested too deeply or lack what the standard requires.
            raise DamagedSource(f"{source} is not a valid presentation ({str(error)[:200]}): {_ADVICE}") from error
    return slides_document(slides, source, title, metadata)


def _slides(package: Package, main: str) -> Iterator[Slide]:
    parts = {key: path for key, kind, path in relations(package, main) if kind == "slide"}
    # A hostile presentation shows one slide many times.
    seen: set[str] = set()
    number = 0
    for element in package.xml(main).iter("{*}sldId"):
        path = parts.get(next((value for name, value in element.attrib.items() if name.endswith("}id")), ""), "")
        if path and path not in seen and number < _MOST_SLIDES:
            seen.add(path)
            number += 1
            yield _slide(package, path, number)


def _slide(package: Package, path: str, number: int) -> Slide:
    root = package.xml(path)
    other = related(package, path)
    title = ""
    blocks: list[str] = []
    for shape in _shapes(root):
        kind = _placeholder(shape)
        if kind in _FURNITURE:
            continue
        if local_name(shape) == "tbl":
            blocks.append(
                table(
                    [
                        [" ".join(_paragraphs(cell)) for cell in row.iterchildren("{*}tc")]
                        for row in shape.iterchildren("{*}tr")
                    ]
                )
            )
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


def _shapes(root: Any) -> Iterator[Any]:
    """Yield the shapes with text and the tables of a slide, also those in groups, in order."""
    for element in root.iter("{*}txBody", "{*}tbl"):
        if local_name(element) == "tbl":
            yield element
        elif local_name(element.getparent()) != "tc":
            yield element.getparent()


def _placeholder(shape: Any) -> str:
    """Return what a shape is for: title, body, ftr …; "" for a shape of its own."""
    found = next(iter(shape.iterfind("{*}nvSpPr/{*}nvPr/{*}ph")), None)
    return "" if found is None else found.get("type", "obj")


def _paragraphs(element: Any) -> list[str]:
    """Return the paragraphs of a shape or cell; those below another one are list items."""
    lines = []
    for paragraph in element.iter("{*}p"):
        text = " ".join("".join(_runs(paragraph)).split())
        if text:
            found = paragraph.find("{*}pPr")
            level = found.get("lvl", "0") if found is not None else "0"
            depth = int(level) if level.isdecimal() and len(level) == 1 else 0
            lines.append(f"{'  ' * (min(depth, _DEEPEST) - 1)}- {text}" if depth else text)
    return lines


def _runs(paragraph: Any) -> Iterator[str]:
    for element in paragraph.iter("{*}t", "{*}br", "{*}tab"):
        yield element.text or "" if local_name(element) == "t" else " "
