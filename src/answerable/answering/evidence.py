"""Chunks → the sentences in them that may answer, each with what speaks for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from answerable.answering.word_forms import WordForms
from answerable.datatypes import Part, PartKind, RetrievalResult
from answerable.filters import Filter, matches, normalize_fields
from answerable.protocols import Evidence, IndexedChunk
from answerable.text.terms import terms

_ITEM = re.compile(r"(?:[-*+•‣]|\d{1,3}[.)]|[a-z][.)])\s")


@dataclass(frozen=True)
class Sentence:
    """A span of a document that can be quoted.

    `similarity` is the cosine of question and sentence (of its chunk, where sentences have no vectors); `coverage` the
    share of the question's terms, by rarity, in the sentence itself; `near_coverage` the same with terms that are there
    in a like form ("vende" for "vendió"); `context` the share that only what it stands under or after has: the sentence
    before it, the line that leads in to its list, the first row of its table, its headings, its sender, the title;
    `chunk_coverage` the share in the whole chunk; `chunk_score` that of retrieval; `terms` are the sentence's own.
    """

    result: RetrievalResult
    start: int
    end: int
    similarity: float
    coverage: float
    near_coverage: float
    context: float
    chunk_coverage: float
    chunk_score: float
    terms: frozenset[str]
    message: Part | None

    @cached_property
    def text(self) -> str:
        """The sentence, verbatim."""
        return self.result.document.content[self.start : self.end]


def sentences(evidence: Evidence) -> Iterator[Sentence]:
    """Every quotable sentence of the evidence, chunk by chunk."""
    total = sum(evidence.word_weights.values())
    for result, indexed in zip(evidence.results, evidence.chunks, strict=True):
        yield from _sentences_of(evidence, result, indexed, total or 1.0)


def _sentences_of(
    evidence: Evidence, result: RetrievalResult, indexed: IndexedChunk, total: float
) -> Iterator[Sentence]:
    chunk, weights = result.chunk, evidence.word_weights
    has_vectors = len(indexed.sentence_vectors) == len(indexed.sentences)
    # An embedder that gives no vectors of sentences leaves their chunk's.
    vectors = indexed.sentence_vectors if has_vectors else np.repeat(indexed.vector[None], len(indexed.sentences), 0)
    similarities = vectors @ evidence.vector
    chunk_coverage = _share(weights, indexed.terms.keys(), total)
    setting = _terms_of(" ".join((chunk.context, *chunk.location.headings)), result)
    around_it = _Surroundings(chunk.content)
    for (start, end), similarity in zip(indexed.sentences, similarities, strict=True):
        own = _terms_of(chunk.content[start:end], result)
        around = setting | around_it.pass_by(start, own)
        message = _message_at(chunk.parts, chunk.start + start)
        if message and not _passes(evidence.where, message, indexed.fields):
            continue
        if message:
            around |= _terms_of(message.sender or "", result)
        if message and evidence.topic is not None:
            # What somebody said on a topic is often a reply, and the topic stands in what others wrote.
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
    """What the sentences of a text stand under and after, while they are gone through in order."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._before: frozenset[str] = frozenset()
        self._lead: frozenset[str] = frozenset()
        self._header: frozenset[str] = frozenset()
        self._item_ends = 0

    def pass_by(self, start: int, own: frozenset[str]) -> frozenset[str]:
        """The terms around the sentence that starts here, whose own terms these are."""
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
    """Whether a message passes a filter by its own sender and time, whatever others in its window have."""
    own = normalize_fields({"sender": message.sender, "date": message.time})
    return matches(where, {**fields, **own})


def _share(weights: Mapping[frozenset[str], float], present: Collection[str], total: float) -> float:
    return sum(weight for word, weight in weights.items() if not word.isdisjoint(present)) / total


def _near_share(weights: Mapping[frozenset[str], float], own: Collection[str], total: float) -> float:
    forms = WordForms(own)
    return sum(weight for word, weight in weights.items() if not word.isdisjoint(own) or forms.has_like(word)) / total


def _terms_of(text: str, result: RetrievalResult) -> frozenset[str]:
    return frozenset(terms(text, result.document.language))


def _message_at(parts: tuple[Part, ...], offset: int) -> Part | None:
    return next((part for part in parts if part.kind is PartKind.MESSAGE and part.start <= offset < part.end), None)
