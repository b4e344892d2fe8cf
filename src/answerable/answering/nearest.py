"""A passage that doesn't answer a question: the sentence nearest to it, and which words of the question are missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from answerable.answering.citations import location_of
from answerable.answering.excerpt import Excerpt
from answerable.answering.rows import column_names, shown_row
from answerable.datatypes import Location, PartKind, RetrievalResult, Span
from answerable.text.markdown_marks import without_marks
from answerable.text.sentences import is_furniture, sentence_spans
from answerable.text.terms import question_words, terms

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest sentence, and the words of the question that the passage has and lacks.

    `text` is the sentence as it is shown: a row of a table with the names of its columns. Words are spelled as in the
    question; words without a meaning of their own ("the", "which") are left out.
    """

    start: int
    end: int
    location: Location
    text: str
    present: tuple[str, ...]
    missing: tuple[str, ...]


def nearest(question: str, language: str, result: RetrievalResult) -> Nearest:
    """Return how near a passage comes to a question in this language."""
    chunk, spoken = result.chunk, result.document.language
    around = (result.document.title, chunk.context, *chunk.location.headings, *chunk.location.senders)
    held = set(terms(" ".join((*around, chunk.content)), spoken))
    asked = _words(question, language, {spoken, language})
    present = {word: stems for word, stems in asked.items() if _has(held, stems)}
    missing = tuple(word for word in asked if word not in present)
    start, end = _sentence(result, list(present.values()))
    row = shown_row(Excerpt(result, start, end))
    text = row or " ".join(without_marks(result.document, start, end).split())
    return Nearest(start, end, location_of(result, start, end), text, tuple(present), missing)


def _words(question: str, language: str, languages: Collection[str]) -> dict[str, list[frozenset[str]]]:
    """Return the words of a question as it spells them, each once, with the stems of their parts."""
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
        # A heading says nothing, nor do the names of a table's columns.
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
    """Yield the texts of a chat's messages, without their headers, and records."""
    for part in result.chunk.parts:
        if part.kind is PartKind.RECORD:
            yield part.start, part.end
        elif part.kind is PartKind.MESSAGE and part.sender:
            text = result.document.content[part.body or part.start : part.end]
            if text.strip():
                start = part.end - len(text.lstrip())
                yield start, start + len(text.strip())
