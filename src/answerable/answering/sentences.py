"""Split passages into quotable sentences, with the numbers that rank them; show rows with the names of their columns.

A table row is shown as "Item: Flights · Amount: 1,240 EUR". For a passage that doesn't answer, this module finds the
nearest sentence and the words of the question that the passage lacks.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile, zip_longest
from typing import Any

import numpy as np

from answerable.answering.citations import location_of
from answerable.answering.found import Found
from answerable.datatypes import DocumentType, Location, Part, PartKind, RetrievalResult, Span
from answerable.filters import Filter, matches, normalize_fields
from answerable.formats.locate import without_marks
from answerable.protocols import IndexedChunk
from answerable.tables.grid import header_above
from answerable.text.sentences import is_furniture, sentence_spans
from answerable.text.terms import question_words, terms

SHORTEST_SHARED = 4
"""Letters with which two similar words must both begin: fewer match unrelated words. A guess, not measured."""
SIMILAR = 0.6
"""Their common start must be this share of the longer word ("vend" of "vendió"). A round number, not measured."""

_ITEM = re.compile(r"(?:[-*+•‣☐☑☒]|\d{1,3}[.)]|[a-z][.)])\s")


@dataclass(frozen=True)
class Excerpt:
    """A span of a document that can be quoted, in a passage that was found."""

    result: RetrievalResult
    start: int
    end: int

    @cached_property
    def text(self) -> str:
        """The verbatim text of the span."""
        return self.result.document.content[self.start : self.end]


@dataclass(frozen=True)
class Sentence(Excerpt):
    """An excerpt weighed against a question.

    `similarity`: cosine of the sentence with the question (of its chunk, if sentences have no vectors). `coverage`:
    share of the question's terms that are in the sentence; rare terms count more. `near_coverage`: like `coverage`, but
    similar forms count too ("vende" for "vendió"). `context`: share of the terms that are only in the sentence's
    context (previous sentence, line before its list, first row of its table, headings, sender, title).
    `chunk_score`: retrieval score of the chunk. `reading`: the reader's logit that the answer begins in the sentence,
    `answer` its span in the document; None if not read. `support`: how well the sentence answers, by which sentences
    are ranked.
    """

    similarity: float
    coverage: float
    near_coverage: float
    context: float
    chunk_score: float
    terms: frozenset[str]
    message: Part | None
    reading: float | None = None
    answer: Span | None = None
    support: float = 0.0


def sentences(found: Found) -> Iterator[Sentence]:
    """Yield the quotable sentences of the passages, one passage after another."""
    total = sum(found.word_weights.values())
    for result, indexed in zip(found.results, found.chunks, strict=True):
        yield from _sentences_of(found, result, indexed, total or 1.0)


def _sentences_of(found: Found, result: RetrievalResult, indexed: IndexedChunk, total: float) -> Iterator[Sentence]:
    chunk, weights = result.chunk, found.word_weights
    has_vectors = len(indexed.sentence_vectors) == len(indexed.sentences)
    # Without sentence vectors, use the chunk's vector.
    vectors = indexed.sentence_vectors if has_vectors else np.repeat(indexed.vector[None], len(indexed.sentences), 0)
    similarities = vectors @ found.asked.vector
    setting = _terms_of(" ".join((chunk.context, *chunk.location.headings)), result)
    surroundings = _Surroundings(chunk.content)
    for (start, end), similarity in zip(indexed.sentences, similarities, strict=True):
        own = _terms_of(chunk.content[start:end], result)
        around = setting | surroundings.visit(start, own)
        message = _message_at(chunk.parts, chunk.start + start)
        if message and not _passes(found.where, message, indexed.fields):
            continue
        if message:
            around |= _terms_of(message.sender or "", result)
        if message and found.topic is not None:
            # A chat message often replies to an earlier message that names the topic.
            around |= indexed.terms.keys()
        coverage = _share(weights, own, total)
        yield Sentence(
            result=result,
            start=chunk.start + start,
            end=chunk.start + end,
            similarity=float(similarity),
            coverage=coverage,
            near_coverage=_near_share(weights, own, total),
            context=_share(weights, own | around, total) - coverage,
            chunk_score=result.score,
            terms=own,
            message=message,
        )


def widened(focus: int, fits: Callable[[int, int], bool]) -> tuple[int, int]:
    """Return the first and last index of a run around `focus` that takes neighbours from both sides while they fit."""
    low = high = focus
    size = 0
    while size < high - low + 1:
        size = high - low + 1
        low -= fits(low - 1, high)
        high += fits(low, high + 1)
    return low, high


class _Surroundings:
    """The context terms of each sentence of a text. Sentences must be visited in order."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._before: frozenset[str] = frozenset()
        self._lead: frozenset[str] = frozenset()
        self._header: frozenset[str] = frozenset()
        self._item_ends = 0

    def visit(self, start: int, own: frozenset[str]) -> frozenset[str]:
        """Return the context terms of the sentence that starts at `start`; `own` are the sentence's own terms."""
        around = self._before
        if self._content.startswith("|", start):
            around |= self._lead | self._header
            self._header = self._header or own
        elif _ITEM.match(self._content, start) or start < self._item_ends:
            around |= self._lead
            self._item_ends = max(self._item_ends, self._content.find("\n", start))
        else:
            self._lead, self._header = own, frozenset()
        self._before = own
        return around


def _passes(where: Filter | None, message: Part, fields: Mapping[str, Any]) -> bool:
    """Return whether a chat message itself passes a filter by sender and time; its chunk may have other messages."""
    own = normalize_fields({"sender": message.sender, "date": message.time})
    return matches(where, {**fields, **own})


def _share(weights: Mapping[frozenset[str], float], present: Collection[str], total: float) -> float:
    return sum(weight for word, weight in weights.items() if not word.isdisjoint(present)) / total


def _near_share(weights: Mapping[frozenset[str], float], own: Collection[str], total: float) -> float:
    """Return the share of words that have a similar form in `own`: irregular verbs, words of related languages."""
    by_beginning: dict[str, list[str]] = defaultdict(list)
    for term in own:
        by_beginning[term[:SHORTEST_SHARED]].append(term)

    def has_similar(word: Collection[str]) -> bool:
        pairs = ((stem, term) for stem in word for term in by_beginning.get(stem[:SHORTEST_SHARED], ()))
        return any(_are_similar(stem, term) for stem, term in pairs)

    return sum(weight for word, weight in weights.items() if not word.isdisjoint(own) or has_similar(word)) / total


def _are_similar(one: str, other: str) -> bool:
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return shared >= max(SHORTEST_SHARED, SIMILAR * max(len(one), len(other)))


def _terms_of(text: str, result: RetrievalResult) -> frozenset[str]:
    return frozenset(terms(text, result.document.language))


def _message_at(parts: tuple[Part, ...], offset: int) -> Part | None:
    return next((part for part in parts if part.kind is PartKind.MESSAGE and part.start <= offset < part.end), None)


LONGEST = 2_000
"""Characters of a row that is shown with column names; a longer row is quoted like any sentence."""
TABLE = 20_000
"""Characters above a row in which the first row of its table is looked for."""
LONGEST_NAMES = 200
"""Characters of a row of column names. A round number, not measured."""

_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_DELIMITERS = ";\t|,"


def shown_row(excerpt: Excerpt) -> str:
    """Return a table row or a contact as names and values on one line; "" if the excerpt is neither."""
    text = excerpt.text.strip()
    if len(text) > LONGEST:
        return ""
    if text.startswith("|") and text.endswith("|"):
        document = excerpt.result.document
        is_sheet = document.type is DocumentType.SPREADSHEET
        names = header_above(document.content, excerpt.start) if is_sheet else column_names(excerpt)
        return _joined(_cells(names), _shown_cells(excerpt, text))
    if excerpt.result.document.type is DocumentType.RECORDS:
        return _record(excerpt, text)
    if excerpt.result.document.type is DocumentType.CONTACTS:
        return " · ".join(text.splitlines())
    part = next((each for each in excerpt.result.chunk.parts if each.start <= excerpt.start < each.end), None)
    if part is not None and part.cells and part.start <= excerpt.start and excerpt.end <= part.end:
        edges = [*part.cells, excerpt.end]
        content = excerpt.result.document.content
        return _joined((), [content[start:end] for start, end in pairwise(edges) if start < end])
    return ""


def column_names(row: Excerpt) -> str:
    """Return the first row of the table that a row is in; "" for the first row itself, or outside of tables."""
    document, start = row.result.document, row.start
    content = document.content
    if document.type is DocumentType.RECORDS:
        stated = str(document.metadata.get("header_line", ""))[:5]
        line = (int(stated) if stated.isdecimal() else 1) if document.metadata.get("columns") else 0
        above = content[: min(start, TABLE)].split("\n", line)
        return above[line - 1].strip()[:LONGEST_NAMES] if 0 < line < len(above) else ""
    if document.type is DocumentType.SPREADSHEET:
        return header_above(content, start)[:LONGEST_NAMES]
    if not row.text.startswith("|"):
        return ""
    low = max(0, start - TABLE)
    above = content[low:start].split("\n")[-2::-1]
    rows = list(takewhile(lambda line: line.lstrip().startswith("|"), above))
    is_whole = low == 0 or len(rows) < len(above)
    return rows[-1].strip()[:LONGEST_NAMES] if rows and is_whole else ""


def is_header(excerpt: Excerpt) -> bool:
    """Return whether a sentence is the row of column names of a Markdown table (cells between bars)."""
    if not excerpt.text.startswith("|") or column_names(excerpt):
        return False
    below = excerpt.result.document.content[excerpt.end : excerpt.end + LONGEST].lstrip("\n").partition("\n")[0]
    return bool(_RULE.fullmatch(below)) and "|" in below


def _record(excerpt: Excerpt, text: str) -> str:
    if text.startswith(("{", "[")):
        try:
            return " · ".join(f"{name}: {value}" if name else value for name, value in _fields(json.loads(text)))
        except (ValueError, RecursionError):
            return ""
    names = column_names(excerpt)
    delimiter = max(_DELIMITERS, key=text.count)
    if delimiter not in text:
        return ""
    try:
        (cells,) = csv.reader([" ".join(text.splitlines())], delimiter=delimiter)
        header = next(csv.reader([names], delimiter=delimiter), []) if names else []
    except (csv.Error, ValueError):
        return ""
    return _joined(header if len(header) == len(cells) else (), cells)


def _fields(record: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the fields of a JSON record; fields of a nested object have names like `address.city`."""
    if isinstance(record, dict):
        for name, value in record.items():
            yield from _fields(value, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(record, list):
        if any(isinstance(item, dict | list) for item in record):
            for number, item in enumerate(record, 1):
                yield from _fields(item, f"{prefix}.{number}" if prefix else str(number))
        elif record:
            yield prefix, ", ".join(map(str, record))
    elif record is not None and record != "":
        yield prefix, str(record)


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(row.strip())[1:-1]]


def _shown_cells(excerpt: Excerpt, text: str) -> list[str]:
    """Return the cells of a row, without Markdown syntax."""
    document, start = excerpt.result.document, excerpt.start + excerpt.text.index(text)
    edges = [start + bar.start() for bar in _BAR.finditer(text)]
    shown = (without_marks(document, first + 1, last) for first, last in pairwise(edges))
    return [cell.strip().replace("\\|", "|") for cell in shown]


def _joined(names: Sequence[str], cells: Sequence[str]) -> str:
    pairs = ((" ".join(name.split()), " ".join(cell.split())) for name, cell in zip_longest(names, cells, fillvalue=""))
    shown = " · ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
    return shown.replace(": · ", ": ")


_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The sentence of a passage nearest to a question, and the words of the question that the passage has and lacks.

    `text` is the sentence as it is shown: a table row has the names of its columns. Words are spelled as in the
    question; words without a meaning of their own ("the", "which") are left out.
    """

    start: int
    end: int
    location: Location
    text: str
    present: tuple[str, ...]
    missing: tuple[str, ...]


def nearest(question: str, language: str, result: RetrievalResult) -> Nearest:
    """Return the passage's nearest sentence to a question in this language, and the words found and missing."""
    present, missing = _present_and_missing(question, language, result)
    start, end = _sentence(result, list(present.values()))
    row = shown_row(Excerpt(result, start, end))
    text = row or " ".join(without_marks(result.document, start, end).split())
    return Nearest(start, end, location_of(result, start, end), text, tuple(present), missing)


def missing_words(question: str, language: str, result: RetrievalResult) -> tuple[str, ...]:
    """Return the words of a question in this language that a passage lacks, spelled and chosen as in `Nearest`."""
    return _present_and_missing(question, language, result)[1]


def _present_and_missing(
    question: str, language: str, result: RetrievalResult
) -> tuple[dict[str, list[frozenset[str]]], tuple[str, ...]]:
    chunk, spoken = result.chunk, result.document.language
    around = (result.document.title, chunk.context, *chunk.location.headings, *chunk.location.senders)
    held = set(terms(" ".join((*around, chunk.content)), spoken))
    asked = _words(question, language, {spoken, language})
    present = {word: stems for word, stems in asked.items() if _has(held, stems)}
    return present, tuple(word for word in asked if word not in present)


def _words(question: str, language: str, languages: Collection[str]) -> dict[str, list[frozenset[str]]]:
    """Return the words of a question as spelled there, each once, with the stems of their parts."""
    found: dict[str, list[frozenset[str]]] = {}
    seen = set()
    for match in _WORD.finditer(question):
        stems = question_words(match[0], language, languages)
        if stems and frozenset(stems) not in seen:
            seen.add(frozenset(stems))
            found[match[0]] = stems
    return found


def _has(held: Collection[str], word: list[frozenset[str]]) -> bool:
    return all(not stems.isdisjoint(held) for stems in word)


def _sentence(result: RetrievalResult, wanted: list[list[frozenset[str]]]) -> Span:
    """Return the sentence or message that has the most of these words, the first of several."""
    content, chunk, language = result.document.content, result.chunk, result.document.language
    spans = list(_messages_or_rows(result)) or [
        (chunk.start + start, chunk.start + end)
        for start, end in sentence_spans(chunk.content, language)
        # Skip headings and column names: they state nothing.
        if not is_furniture(chunk.content, start, end) and not _is_names(result, chunk.start + start, chunk.start + end)
    ]

    def shared(span: Span) -> int:
        held = set(terms(content[slice(*span)], language))
        return sum(_has(held, word) for word in wanted)

    return max(spans, key=shared, default=(chunk.start, chunk.end))


def _is_names(result: RetrievalResult, start: int, end: int) -> bool:
    excerpt = Excerpt(result, start, end)
    return excerpt.text.startswith("|") and not column_names(excerpt)


def _messages_or_rows(result: RetrievalResult) -> Iterator[Span]:
    """Yield the spans of a chat's messages, without their headers, or of a table's rows and records."""
    for part in result.chunk.parts:
        if part.kind is PartKind.RECORD:
            yield part.start, part.end
        elif part.kind is PartKind.MESSAGE and part.sender:
            text = result.document.content[part.body or part.start : part.end]
            if text.strip():
                start = part.end - len(text.lstrip())
                yield start, start + len(text.strip())
