"""Read the fields of a PDF form, and find the label beside each: `Label: value`, `☒ label`. In the reading process."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from answerable.sources.pdf.page_text import Edit
from answerable.sources.pdf.tables import LINE, Box, Geometry

MOST_FIELDS = 1_000  # fields of a page that are put beside their labels; the others stay at its end, as they are drawn
MOST_WORDS = 10_000  # words of a page that may be in labels: bounds the time
LONGEST_VALUE = 10_000  # characters to which a value is cut
MOST_CHOSEN = 100  # chosen options of a list that are named
TOUCHING = 2.0  # points by which a field may overlap its label
FARTHEST = 1_000.0  # points between a box and a label that counts as none
FAR = 10.0  # heights of a field; a label on the left that is farther gives way to one right above
LONGEST_NAME = 30  # characters of the name of a column of boxes at most
BELOW = 1.5  # heights of a label at most between it and the field below it
_BUTTONS = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_CHOICES = (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_READ = (*_BUTTONS, *_CHOICES, pdfium.FPDF_FORMFIELD_TEXTFIELD)
_PASSWORD = 1 << 13  # flag of a text field whose value the PDF hides
_UNSEEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_BLANK = re.compile(r"\s?(?:__|\.{4}|…)")  # where a value is written by hand


class Field(NamedTuple):
    """A field: its box on the page, its value, whether it is a box to tick, and the name that a program shows."""

    box: Box
    value: str
    is_button: bool
    name: str


def take_fields(page: Any, form: Any) -> list[Field]:
    """Return the page's fields from the top to the bottom, and remove them from the page in memory."""
    found = []
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST_FIELDS) - 1, -1, -1):
        note = pdfium.FPDFPage_GetAnnot(page, number)
        kind = pdfium.FPDFAnnot_GetFormFieldType(form, note)
        if is_read := kind in _READ:
            corners = pdfium.FS_RECTF()
            pdfium.FPDFAnnot_GetRect(note, corners)
            box = corners.left, corners.bottom, corners.right, corners.top
            if not pdfium.FPDFAnnot_GetFlags(note) & _UNSEEN and box[0] < box[2] and box[1] < box[3]:
                name = _string(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, note)
                found.append(Field(box, _value(form, note, kind), kind in _BUTTONS, name))
        pdfium.FPDFPage_CloseAnnot(note)
        if is_read:
            pdfium.FPDFPage_RemoveAnnot(page, number)
    return sorted(found, key=lambda field: (-field.box[3], field.box[0]))


def _value(form: Any, note: Any, kind: int) -> str:
    if kind in _BUTTONS:
        return "☒" if pdfium.FPDFAnnot_IsChecked(form, note) else "☐"
    if kind in _CHOICES:
        options = range(max(0, pdfium.FPDFAnnot_GetOptionCount(form, note)))
        chosen = (each for each in options if pdfium.FPDFAnnot_IsOptionSelected(form, note, each))
        labels = [_string(pdfium.FPDFAnnot_GetOptionLabel, form, note, each) for each in islice(chosen, MOST_CHOSEN)]
        if any(labels):
            return ", ".join(filter(None, labels))
    elif pdfium.FPDFAnnot_GetFormFieldFlags(form, note) & _PASSWORD:
        return ""
    return _string(pdfium.FPDFAnnot_GetFormFieldValue, form, note)


def _string(get: Callable[..., int], *arguments: Any) -> str:
    """Return what a function of PDFium writes as UTF-16, on one line."""
    size = get(*arguments, None, 0)
    buffer = ctypes.create_string_buffer(size)
    get(*arguments, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return " ".join(buffer.raw.decode("utf-16-le", "replace").split("\0")[0].split())[:LONGEST_VALUE]


class _Word(NamedTuple):
    start: int
    end: int
    left: float
    right: float
    text: str


class _Line(NamedTuple):
    bottom: float
    top: float
    end: int
    words: list[_Word]


def beside_labels(
    fields: Sequence[Field], geometry: Geometry, text: str, index_of: Callable[[int], int]
) -> Iterator[Edit]:
    """Yield the edits that write each field beside its label; a field without any label has a line of its own."""
    lines = sorted(_lines(geometry, text, index_of), key=lambda line: line.bottom) if fields else []
    used: set[int] = set()
    for row in _rows(fields):
        level = [line for line in lines if _is_level((0, line.bottom, 0, line.top), row[0].box)]
        spaces = _spaces(row, sorted((word for line in level for word in line.words), key=lambda word: word.left))
        is_left = sum(_sides(row, spaces)) <= 0
        for first, last in _groups(row, spaces):
            field = row[first]
            if last > first:
                yield from _boxes_in_columns(row[first : last + 1], spaces[first], spaces[last + 1], lines)
                continue
            if field.is_button:
                found = _box_beside(field, spaces[first + 1 - is_left], is_left, text)
            else:
                found = _value_beside(field, spaces[first], lines, text, used)
            used.update(edit.start for edit in found)
            yield from found or _on_its_own(field, lines, text)


def _groups(row: Sequence[Field], spaces: Sequence[Sequence[_Word]]) -> Iterator[tuple[int, int]]:
    """Yield the first and last place of each run of boxes to tick without words between them, and of other fields."""
    first = 0
    for last, field in enumerate(row):
        if last + 1 == len(row) or spaces[last + 1] or not (field.is_button and row[last + 1].is_button):
            yield first, last
            first = last + 1


def _boxes_in_columns(
    fields: Sequence[Field], before: Sequence[_Word], after: Sequence[_Word], lines: Sequence[_Line]
) -> Iterator[Edit]:
    """Yield the edit that writes boxes, which have their names above them, behind the text of their row."""
    is_before = before and (not after or fields[0].box[0] - before[-1].right <= after[0].left - fields[-1].box[2])
    words, place = (before, len(before) - 1) if is_before else (after, 0)
    names = [" ".join(word.text for word in _over(field, lines)[1]) for field in fields]
    # Without its name, a box would seem to be about the text beside it.
    if words and all(0 < len(name) <= LONGEST_NAME for name in names):
        end = _together(words, place, fields[0].box[3] - fields[0].box[1])[-1].end
        shown = " ".join(f"{field.value} {name}" for field, name in zip(fields, names, strict=True))
        yield Edit(end, end, f": {shown}", fields[0].box)


def _over(field: Field, lines: Sequence[_Line]) -> tuple[_Line, Sequence[_Word]]:
    """Return the nearest line above a field that has words over it, and these words; without one, no words."""
    left, _, right, top = field.box
    for line in lines:
        places = [place for place, word in enumerate(line.words) if word.left < right and left < word.right]
        if places and line.bottom >= top - TOUCHING:
            return line, _together(line.words, places[0], line.top - line.bottom)
    return _Line(top, top, 0, []), []


def _lines(geometry: Geometry, text: str, index_of: Callable[[int], int]) -> Iterator[_Line]:
    count = 0
    for match in LINE.finditer(text):
        first, shown = index_of(match.start()), match[0].rstrip()
        box = geometry.line_box(first, len(shown)) if shown else None
        if box is not None:
            start = match.start()
            words = ((*word, shown[word[0] : word[1]]) for word in geometry.words(first, shown))
            found = [_Word(start + word[0], start + word[1], *word[2:]) for word in words if not _BLANK.match(word[4])]
            yield _Line(box[1], box[3], start + len(shown), found)
            count += len(found)
            if count > MOST_WORDS:
                return


def _is_level(one: Box, other: Box) -> bool:
    return one[1] <= (other[1] + other[3]) / 2 <= one[3] or other[1] <= (one[1] + one[3]) / 2 <= other[3]


def _rows(fields: Sequence[Field]) -> list[list[Field]]:
    """Return the fields row by row, each from left to right. A field of several lines is a row of its own."""
    rows: list[list[Field]] = []
    for field in fields:
        first = rows[-1][0].box if rows else field.box
        height = first[3] - first[1]
        if rows and _is_level(first, field.box) and height < 2 * (field.box[3] - field.box[1]):
            rows[-1].append(field)
        else:
            rows.append([field])
    return [sorted(row, key=lambda field: field.box[0]) for row in rows]


def _spaces(row: Sequence[Field], words: Sequence[_Word]) -> list[list[_Word]]:
    """Return the words before the first field of a row, those between each two fields, and those after the last."""
    spaces: list[list[_Word]] = [[] for _ in range(len(row) + 1)]
    place = 0
    for word in words:
        while place < len(row) and word.left >= row[place].box[2] - TOUCHING:
            place += 1
        if place == len(row) or word.right <= row[place].box[0] + TOUCHING:
            spaces[place].append(word)
    return spaces


def _sides(row: Sequence[Field], spaces: Sequence[Sequence[_Word]]) -> Iterator[float]:
    """Yield for each box to tick how much farther the text on its left is than the text on its right."""
    for field, before, after in zip(row, spaces, spaces[1:], strict=False):
        if field.is_button:
            left = field.box[0] - before[-1].right if before else FARTHEST
            yield left - (after[0].left - field.box[2] if after else FARTHEST)


def _box_beside(field: Field, words: Sequence[_Word], is_left: bool, text: str) -> list[Edit]:
    if not words:
        return []
    if not is_left:
        return [Edit(words[0].start, words[0].start, f"{field.value} ", field.box)]
    label = _together(words, len(words) - 1, field.box[3] - field.box[1])
    end = label[-1].end
    # The label's colon pointed to the box, which is written before the label.
    colon = [Edit(end - 1, end, "")] if text[end - 1] == ":" else []
    return [Edit(label[0].start, label[0].start, f"{field.value} ", field.box), *colon]


def _value_beside(
    field: Field, words: Sequence[_Word], lines: Sequence[_Line], text: str, used: set[int]
) -> list[Edit]:
    line, above = _over(field, lines)
    height = line.top - line.bottom
    is_near = above and line.bottom - field.box[3] <= BELOW * height and above[0].left >= field.box[0] - height
    if not is_near or not used.isdisjoint({above[0].start, above[-1].end}):
        above = []
    is_far = not words or field.box[0] - words[-1].right > FAR * (field.box[3] - field.box[1])
    label = above if above and is_far else words
    if not label:
        return []
    end = label[-1].end
    is_named = text[end - 1].isalnum() or text[end - 1] in ")]"
    is_sentence = text[end : end + 2].lstrip()[:1].islower() or (not field.value and _BLANK.match(text, end))
    colon = ":" if is_named and not is_sentence and end not in used else ""
    return [Edit(end, end, f"{colon} {field.value}".rstrip(), field.box)]


def _together(words: Sequence[_Word], place: int, gap: float) -> Sequence[_Word]:
    """Return the words around one of them, without wide gaps between them."""
    first = last = place
    while first > 0 and words[first].left - words[first - 1].right < gap:
        first -= 1
    while last + 1 < len(words) and words[last + 1].left - words[last].right < gap:
        last += 1
    return words[first : last + 1]


def _on_its_own(field: Field, lines: Sequence[_Line], text: str) -> list[Edit]:
    """Return the edit that writes a filled field, with the name that a program shows, on a line where it is."""
    if field.is_button:
        shown = f"{field.value} {field.name}" if field.name and (field.value == "☒" or text.strip()) else ""
    else:
        shown = f"{field.name}: {field.value}" if field.name and field.value else field.value
    end = next((line.end for line in lines if line.bottom > (field.box[1] + field.box[3]) / 2), 0)
    return [Edit(end, end, f"\r\n{shown}" if end else f"{shown}\r\n", field.box)] if shown else []
