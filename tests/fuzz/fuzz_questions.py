"""Fuzz the filters of questions, and the texts and citation marks that a model writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from draw import HOSTILE, Draw
from fuzz_targets import Target
from helpers import HashEmbedder

from answerable.answering.checking.check import check_answer
from answerable.answering.decide import Answering
from answerable.datatypes import Document, RetrievalResult
from answerable.errors import FilterError
from answerable.filters import matches, normalize_fields, parse_filter
from answerable.interfaces.cli.filters import build_filter, conditions_filter, read_conditions, spell_conditions
from answerable.interfaces.cli.options import FilterOptions
from answerable.library import Library
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore

FIELDS = ("type", "date", "page", "sender", "and", "or", "not", "", "\ud800", "source")
OPERATORS = ("gt", "gte", "lt", "lte", "exists", "gte ", "")
DATES = (
    "2024-03-01",
    "0001-01-01",
    "9999-12-31",
    "2024-02-30",
    "2024-W01-1",
    "2024-03-01T25:00",
    "9999-12-31T23:59-14",
)
NUMBERS = (0, -1, 1.5, 10**400, float("inf"), float("nan"), True, None, 2**63)
CONDITIONS = (
    "from=",
    "since=",
    "until=",
    "type=pdf ",
    "source=",
    "language=",
    "none",
    '"Ana Lucía" ',
    "“Ana”",
    "'",
    '"',
    "\\",
    "=",
    " ",
    "2024-03-01 ",
    "9999-12-31 ",
    "~/",
    "./",
    "//",
)
JSON = (
    '{"',
    '": ',
    '"}',
    "{",
    "}",
    "[",
    "]",
    '"and"',
    ": ",
    ", ",
    '"gte"',
    "1e999",
    "NaN",
    '"\\ud800"',
    "null",
    '"a"',
    "9" * 5_000,
)
WRITTEN = (
    "The museum opened in 1901 [1].",
    "Entry costs 5 euros. [1][2]",
    "[1-3]",
    "[1, 2; 3]",
    "[9999–1]",
    "[^1]",
    "【1†source】",
    "[1](https://example.org/x)",
    "```\nmake demo\n```\n",
    "~~~",
    "- ",
    "1. ",
    "| a | [1] |\n| --- |\n",
    "## ",
    "“the museum opened in 1901”",
    '"',
    "«",
    "»",
    "‘",
    "’",
    "**",
    "<img src=x>",
    "![x](http://evil.example/)",
    "<|im_start|>system\n",
    "It doesn't open on Mondays.",
    "I don't know.",
    "٣ ",
    "\n",
    ". ",
)


@cache
def _library() -> Library:
    made = Library(MemoryStore(), HashEmbedder(), SplitterByType(200, 20), FileReader(), Answering())
    made.add_documents([Document.from_text("Some text.", "d", source="/in/a.txt", language="en", page=3)])
    return made


@cache
def _passages() -> tuple[RetrievalResult, ...]:
    english = "The museum opened in 1901. It was founded by Ana Gómez. Entry costs 5 euros; it isn't open on Mondays."
    spanish = "La biblioteca cerró en 1950. «Los libros», dijo Ana, «se prestan tres semanas»."
    documents = (
        Document.from_text(english, language="en"),
        Document.from_text(spanish, language="es"),
        Document.from_text("Run it so:\n\n```\nmake demo\n```\n", language="en"),
    )
    return tuple(RetrievalResult(SplitterByType().split(one)[0], 1.0, one) for one in documents)


def _value(draw: Draw, depth: int) -> Any:
    match draw.number(7):
        case 0 | 1:
            return draw.pick(DATES)
        case 2:
            return draw.pick(NUMBERS)
        case 3:
            return draw.pick(HOSTILE)
        case 4:
            return {draw.pick(OPERATORS): _value(draw, depth - 1) for _ in range(draw.number(2))} if depth else {}
        case 5:
            return [_value(draw, depth - 1) for _ in range(draw.number(3))] if depth else []
        case _:
            return _where(draw, depth - 1) if depth else "x"


def _where(draw: Draw, depth: int) -> Any:
    if not draw.number(40):
        # Deeper than Python itself may go.
        deep: Any = {"type": "pdf"}
        for _ in range(draw.pick((10, 49, 50, 51, 60_000))):
            deep = {"not": deep}
        return deep
    return {draw.pick(FIELDS): _value(draw, depth) for _ in range(draw.number(3))}


def _filters(draw: Draw) -> None:
    match draw.number(2):
        case 0:
            _parsed(_where(draw, 5))
        case 1:
            found = build_filter(_library(), FilterOptions(where=draw.text(JSON)))
            _parsed(found)
            json.dumps(found)
        case _:
            # So much at most is typed in a line.
            current = read_conditions(draw.text(CONDITIONS, 12)[:500], {})
            assert read_conditions(" ", current) == current
            conditions_filter(_library(), current)
            try:
                spelt = read_conditions(spell_conditions(current), {})
            except FilterError:
                # What holds quotes can't be spelt again.
                return
            assert spelt.keys() <= current.keys()


def _parsed(where: Any) -> None:
    parsed = parse_filter(where)
    stored: Mapping[str, Any] = normalize_fields({"type": "pdf", "page": 3, "date": "2024-03-05", "sender": ["Ana"]})
    assert matches(parsed, stored) in (True, False)
    hash(parsed)


def _citations(draw: Draw) -> None:
    text, passages = draw.text(WRITTEN, 60), _passages()
    # No answer is as long as what a hostile model may repeat.
    language, marks = draw.pick(("en", "es", "")), bool(draw.number(1))
    checked = check_answer(text[:20_000], passages, language, marks)
    known = {passage.document.id: passage.document.content for passage in passages}
    for citation in checked.citations:
        assert known[citation.document_id][citation.start : citation.end] == citation.quote


TARGETS = {
    "filters": Target(_filters, (b"\0" * 9, b"\1" * 40, b"\2" * 40)),
    "citations": Target(_citations, (b"\x01" * 60,)),
}
