"""When something was written: the day of a message, of an entry in a diary or a letter in a file, or of a document."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from answerable.answering.evidence import Sentence
from answerable.answering.word_lists import word_lists
from answerable.datatypes import Document, DocumentType
from answerable.tables.dates import DayOrder, read_date
from answerable.text.terms import fold

LONGEST = 200_000
"""Of a longer document, the entries after so many characters are not looked for."""

_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_. ]?(0[1-9]|1[0-2])[-_. ]?(0[1-9]|[12]\d|3[01])(?!\d)")
# What a line begins with: marks of headings and items, a label as in a letter's head, then perhaps a date.
_LINE = re.compile(
    r"^[#*>_\[ \t-]{0,8}(?:(?P<label>\w{2,8})[*_]{0,2}:[ \t]*)?(?P<rest>[^\W_][^\n]{2,60})", re.MULTILINE
)
_ENDS = re.compile(r"[.:;*_\]|(–—]|\s-\s|,(?!\s*\d{4})| {2}")
_ANY_YEAR = 2000
_WITHOUT_ENTRIES = (DocumentType.CHAT, DocumentType.RECORDS, DocumentType.SPREADSHEET)


@dataclass(frozen=True, slots=True)
class Entry:
    """A dated part of a document, from `start` to the next entry. `day` is None if its year isn't known."""

    start: int
    order: tuple[int, ...]
    day: date | None


def entry_of(sentence: Sentence) -> Entry | None:
    """Return the dated entry that a sentence stands in: None if its document has less than two."""
    document = sentence.result.document
    if sentence.message is not None or document.type in _WITHOUT_ENTRIES:
        return None
    found = _entries(document.content[:LONGEST])
    place = bisect_right([each.start for each in found], sentence.start)
    return found[place - 1] if place and len(found) > 1 else None


def day_of(sentence: Sentence) -> date | None:
    """Return the day of a message, of an entry, or of a document with a date in its name, title or front matter."""
    if sentence.message is not None:
        return sentence.message.time.date() if sentence.message.time else None
    entry = entry_of(sentence)
    return entry.day if entry else _day_of_document(sentence.result.document)


def is_later(one: Sentence, other: Sentence) -> bool:
    """Return whether a sentence was written after another; False if it isn't known."""
    if one.result.document.id == other.result.document.id:
        if one.message and other.message:
            return one.start > other.start
        entries = entry_of(one), entry_of(other)
        return bool(entries[0] and entries[1] and entries[0].order > entries[1].order)
    if one.message and other.message:
        times = one.message.time, other.message.time
        return bool(times[0] and times[1] and times[0] > times[1])
    days = day_of(one), day_of(other)
    return bool(days[0] and days[1] and days[0] > days[1])


def _day_of_document(document: Document) -> date | None:
    # The date in a PDF is that of the file.
    keys = ("date", "fecha", "data") if document.type is DocumentType.MARKDOWN else ()
    for text in (document.source.rpartition("/")[2], document.title, *map(document.metadata.get, keys)):
        if match := _DAY.search(str(text or "")):
            try:
                return date(*(int(number) for number in match.groups()))
            except ValueError:
                continue
    return None


@lru_cache(maxsize=64)
def _entries(content: str) -> tuple[Entry, ...]:
    """Return the dated entries of a text in order: of lines with dates, or with days of the week if these are all."""
    dated = list(_dated_lines(content))
    for kind in (2, 1, 0):
        # Full dates, then days of a year that isn't said, then days of the week, which only follow each other.
        chosen = [(start, day) for start, day, known in dated if known == kind]
        if len(chosen) > 1:
            return tuple(_entry(start, day, kind, number) for number, (start, day) in enumerate(chosen))
    return ()


def _entry(start: int, day: date | None, known: int, number: int) -> Entry:
    order = (day.toordinal(), start) if day and known else (number,)
    return Entry(start, order, day if known == 2 else None)


def _dated_lines(content: str) -> Iterator[tuple[int, date | None, int]]:
    """Yield the start and day of each line that begins with a date; 2 if its year is known, 0 if only a weekday is."""
    labels = frozenset(word_lists("corrections")["date_labels"].split())
    weekdays = frozenset(word_lists("corrections")["weekdays"].split())
    for match in _LINE.finditer(content):
        label, rest = fold((match["label"] or "").lower()), match["rest"]
        if label and label not in labels | weekdays:
            continue
        if label in weekdays or (not label and fold(_head(rest).lower()) in weekdays):
            yield match.start(), None, 0
            continue
        head = _head(rest)
        if not any(map(str.isdigit, head)):
            continue
        if moment := read_date(head, DayOrder.DAY_FIRST):
            yield match.start(), moment.time.date(), 2
        elif moment := read_date(f"{head} {_ANY_YEAR}", DayOrder.DAY_FIRST):
            yield match.start(), moment.time.date(), 1


def _head(text: str) -> str:
    """Return what may be a date at the beginning of a line: "3 de maio" of "3 de maio** Escolhemos"."""
    end = _ENDS.search(text)
    head = text[: end.start()] if end else text
    if not any(map(str.isdigit, head)):
        return head.strip()
    # "02/04/2024 Correo del cliente": numbers end at the first word that isn't part of the date.
    return head.partition(" ")[0] if re.match(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}", head) else head.strip()
