"""Split evidence into quotable sentences, with the numbers that rank them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from answerable.answering.excerpt import Excerpt
from answerable.datatypes import Part, PartKind, RetrievalResult, Span
from answerable.filters import Filter, matches, normalize_fields
from answerable.protocols import Evidence, IndexedChunk
from answerable.text.terms import terms

SHORTEST_SHARED = 4
SIMILAR = 0.6

_ITEM = re.compile(r"(?:[-*+•‣]|\d{1,3}[.)]|[a-z][.)])\s")


@dataclass(frozen=True)
class Sentence(Excerpt):
    """An excerpt weighed against a question.

    `similarity`: cosine of the sentence with the question (of its chunk, if sentences have no vectors). `coverage`:
    share of the question's terms that are in the sentence; rare terms count more. `near_coverage`: like `coverage`, but
    similar forms count too ("vende" for "vendió"). `context`: share of the terms that are only in the sentence's
    context (previous sentence, line before its list, first row of its table, headings, sender, title).
    `chunk_coverage`: share of the terms that are in the chunk. `chunk_score`: retrieval score of the chunk. `reading`:
    the reader's logit that the answer begins in the sentence, `answer` its span in the document; None if not read.
    """

    similarity: float
    coverage: float
    near_coverage: float
    context: float
    chunk_coverage: float
    chunk_score: float
    terms: frozenset[str]
    message: Part | None
    reading: float | None = None
    answer: Span | None = None


def sentences(evidence: Evidence) -> Iterator[Sentence]:
    """Yield the quotable sentences of the evidence, chunk by chunk."""
    total = sum(evidence.word_weights.values())
    for result, indexed in zip(evidence.results, evidence.chunks, strict=True):
        yield from _sentences_of(evidence, result, indexed, total or 1.0)


def _sentences_of(
    evidence: Evidence, result: RetrievalResult, indexed: IndexedChunk, total: float
) -> Iterator[Sentence]:
    chunk, weights = result.chunk, evidence.word_weights
    has_vectors = len(indexed.sentence_vectors) == len(indexed.sentences)
    # Without sentence vectors use the chunk's.
    vectors = indexed.sentence_vectors if has_vectors else np.repeat(indexed.vector[None], len(indexed.sentences), 0)
    similarities = vectors @ evidence.vector
    chunk_coverage = _share(weights, indexed.terms.keys(), total)
    setting = _terms_of(" ".join((chunk.context, *chunk.location.headings)), result)
    surroundings = _Surroundings(chunk.content)
    for (start, end), similarity in zip(indexed.sentences, similarities, strict=True):
        own = _terms_of(chunk.content[start:end], result)
        around = setting | surroundings.visit(start, own)
        message = _message_at(chunk.parts, chunk.start + start)
        if message and not _passes(evidence.where, message, indexed.fields):
            continue
        if message:
            around |= _terms_of(message.sender or "", result)
        if message and evidence.topic is not None:
            # A message is often a reply to others, who name the topic.
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
            chunk_coverage=chunk_coverage,
            chunk_score=result.score,
            terms=own,
            message=message,
        )


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
    """Return whether a chat message itself passes a filter by sender and time; its chunk may have others."""
    own = normalize_fields({"sender": message.sender, "date": message.time})
    return matches(where, {**fields, **own})


def _share(weights: Mapping[frozenset[str], float], present: Collection[str], total: float) -> float:
    return sum(weight for word, weight in weights.items() if not word.isdisjoint(present)) / total


def _near_share(weights: Mapping[frozenset[str], float], own: Collection[str], total: float) -> float:
    """Return the share of words with a similar form, such as irregular verbs and words of related languages."""
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
