"""Summaries without a language model: the most central sentences of a document, section or chat, in their order.

A sentence is central if it is close to all others, as in LexRank (Erkan & Radev 2004, arXiv:1109.2128), with the mean
of the vectors instead of a graph. Sentences are chosen one by one, each penalised by its closeness to the chosen ones
(maximal marginal relevance, Carbonell & Goldstein 1998) and by how many of its section are chosen.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from answerable.answering.citations import cite_spans
from answerable.computing.asked import summaries_wanted
from answerable.computing.vocabulary import (
    SMALL_WORDS,
    documents_named,
    name_of,
    name_stems,
    stems,
    stems_of,
    word_lists,
)
from answerable.datatypes import Answer, Citation, Document, DocumentType, FloatArray, Part, Reason, RetrievalResult
from answerable.formats.locate import without_marks
from answerable.protocols import Store, StoredDocument
from answerable.retrieval.times import asked_when, fold_in_place
from answerable.text.terms import words

FEWEST, MOST = 6, 16  # extracts of a summary: about a page; a guess, not measured
PER_EXTRACT = 3
"""Sentences of a text for each extract of its summary, between `FEWEST` and `MOST` extracts."""
SHORTEST, LONGEST = 25, 600  # characters of a quoted sentence: no label, no paragraph; a guess, not measured
COMPARED = 4_000
"""Sentences of a text that are compared; of a longer text, sentences at even distances are compared."""
MOST_CODE = 15
"""Characters: a sentence with more than one sign of code, such as a brace, per this many isn't quoted."""
SAME = 0.6  # what a sentence loses for a cosine of .5 with a chosen extract
CROWDED = 0.5  # what it loses for each chosen extract from its section or day
FIGURE, AMOUNT, SHORT, TOPIC = 0.9, 0.3, 0.7, 1.1
"""What a sentence gains or loses by `_features` and topic; a standard deviation of centrality counts .5. Chosen, with
`SAME` and `CROWDED`, of 243 settings by the key points of 12 documents (`tests/quality/everyday/summaries.jsonl`): .857
of them are in the extracts, .838 to .847 with the settings beside these; .850 before, with a list of cue words."""
FEW_WORDS = 7
"""Words: a sentence with fewer is short. A guess, not measured."""
LONG_WORD = 5
"""Letters: shorter words don't show the topic of a text."""

_QUESTION = re.compile(r"[?？]\s*[)\"”»]?\s*$")
_AMOUNT = re.compile(r"[€$£%]|\d[\d.,]{3}|(?<=\d )(?:per cent|por ciento|por cento|euros|reais|pesos|pounds|dollars)\b")
_CODE = frozenset("{}[]()=;<>$_`\\")
_UNQUOTED = ("|", "```", "~~~", "<", "#")


@dataclass(frozen=True)
class Unit:
    """A sentence that may become an extract: its place, its vector, and its section or day."""

    start: int
    end: int
    text: str
    vector: FloatArray
    part: Part | None
    group: str

    @cached_property
    def words(self) -> list[str]:
        """The sentence's words, without accents."""
        return [fold_in_place(word) for word in words(self.text)]


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A question that may ask for a summary; `documents` are those that may be summarised."""

    store: Store
    question: str
    language: str
    results: Sequence[RetrievalResult]
    documents: Sequence[StoredDocument]
    now: datetime

    def answer(self) -> Answer | None:
        """Return extracts as the answer; None if the question asks for no summary, or it isn't clear of what."""
        parts = summaries_wanted(fold_in_place(self.question))
        pronouns = set(word_lists("summaries")["words"]["pronouns"].split())
        what = next((what for what, _ in parts if not set(words(what)) <= pronouns), None)
        if what is None:
            return None
        chosen = self._document(what, must_be_named=not any(is_asked for _, is_asked in parts))
        return None if chosen is None else self._extracts(chosen, what)

    def _document(self, what: str, must_be_named: bool) -> StoredDocument | None:
        """Return the document to summarise: the one that is named, or else the one with most of the passages found."""
        named = documents_named(what, self.documents)
        ranked = Counter(result.document.id for result in self.results)
        if named:
            return max(named, key=lambda each: ranked.get(each.id, 0))
        if must_be_named:
            return None
        if len(self.documents) == 1:
            return self.documents[0]
        best = ranked.most_common(1)
        if not best or best[0][1] * 2 <= sum(ranked.values()):
            return None
        return next((each for each in self.documents if each.id == best[0][0]), None)

    def _extracts(self, stored: StoredDocument, what: str) -> Answer | None:
        document = self.store.document(stored.id)
        if document is None:
            return None
        units = list(_units(self.store, document))
        if stored.type == DocumentType.CHAT:
            units = self._of_time(units, what)
        else:
            units = _of_section(units, stems_of([what]) - name_stems(stored))
        if not (chosen := choose(units)):
            return None
        citations = cite_spans(document, [(unit.start, unit.end) for unit in chosen])
        shown = (_shown(document, unit, citation) for unit, citation in zip(chosen, citations, strict=True))
        said = word_lists("summaries")["said"]
        language = self.language if self.language in said else "en"
        lines = [said[language]["extracts"].format(name=name_of(stored))]
        lines += [f"- {each} [{number}]" for number, each in enumerate(shown, 1)]
        text = "\n".join(lines)
        return Answer(self.question, text, True, Reason.ANSWERED, language, 1.0, tuple(citations))

    def _of_time(self, units: list[Unit], what: str) -> list[Unit]:
        """Return the messages from the times that the request names; all messages if it names no time."""
        days = [unit.part.time.date() for unit in units if unit.part and unit.part.time]
        if not days:
            return units
        # In "the chat of March", the time is part of the name of what is summarised.
        ways = (what, *(f"{word} {what.split()[-1]}" for word in ("in", "en", "em")))
        found = (asked_when(way, self.now, (min(days), max(days)), self.language, is_past=True) for way in ways)
        periods = [period for time in next(filter(None, found), []) for period in time.periods]
        return [
            unit
            for unit in units
            if not periods
            or (unit.part and unit.part.time and any(start <= unit.part.time < end for start, end in periods))
        ]


def summarize(store: Store, document: Document, most: int = MOST) -> list[Citation]:
    """Return at most `most` extracts of a document, in its order; [] if it has no whole sentence."""
    return cite_spans(document, [(unit.start, unit.end) for unit in choose(list(_units(store, document)), most)])


def _units(store: Store, document: Document) -> Iterator[Unit]:
    seen: set[str] = set()
    has_front_matter = document.type == DocumentType.MARKDOWN and document.content.startswith("---")
    for indexed in store.indexed_chunks(document.id):
        chunk = indexed.chunk
        has_vectors = len(indexed.sentence_vectors) == len(indexed.sentences)
        for number, (start, end) in enumerate(indexed.sentences):
            text = chunk.content[start:end].strip()
            key = " ".join(text.split()).casefold()
            if not _is_quotable(text) or key in seen:
                continue
            seen.add(key)
            place = chunk.start + start
            part = next((each for each in chunk.parts if each.start <= place < each.end), None)
            if has_front_matter and part and part.start == 0:
                continue
            vector = indexed.sentence_vectors[number] if has_vectors else indexed.vector
            yield Unit(place, chunk.start + end, text, vector, part, _group(part, place, len(document.content)))


def choose(units: Sequence[Unit], most: int = MOST) -> list[Unit]:
    """Return the extracts of a text, in the text's order; they are chosen by centrality and spread over sections."""
    if not units:
        return []
    compared = units[:: len(units) // COMPARED + 1]
    wanted = min(max(FEWEST, len(units) // PER_EXTRACT), most, len(compared))
    vectors = np.stack([unit.vector for unit in compared]).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    centrality = vectors @ vectors.mean(axis=0)
    scores = (centrality - centrality.mean()) / max(float(centrality.std()), 1e-6) * 0.5
    scores += np.array([_features(unit) for unit in compared])
    scores += TOPIC * _topicality(compared)
    # What all sentences of a text have in common doesn't show which of them repeat each other.
    apart = vectors - vectors.mean(axis=0)
    apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-6)
    taken: list[int] = []
    groups: Counter[str] = Counter()
    while len(taken) < wanted:
        penalties = np.array([CROWDED * groups[unit.group] for unit in compared])
        if taken:
            penalties += np.maximum((apart @ apart[taken].T).max(axis=1), 0) * 2 * SAME
            penalties[taken] = np.inf
        best = int((scores - penalties).argmax())
        taken.append(best)
        groups[compared[best].group] += 1
    return [compared[number] for number in sorted(taken)]


def _topicality(units: Sequence[Unit]) -> FloatArray:
    """Return how frequent the words of each sentence are in all sentences: Luhn (1958) finds significant ones so."""
    own = [{word for word in unit.words if len(word) >= LONG_WORD} for unit in units]
    counts = Counter(word for each in own for word in each)
    return np.array([sum(math.log(counts[word]) for word in each) / max(len(each), 4) for each in own], np.float32)


def _features(unit: Unit) -> float:
    """Return a score for signs that a sentence matters: figures and amounts; a short one matters less."""
    value = FIGURE * any(map(str.isdigit, unit.text)) + AMOUNT * bool(_AMOUNT.search(unit.text))
    return value - SHORT * (len(unit.words) < FEW_WORDS)


def _of_section(units: list[Unit], named: frozenset[str]) -> list[Unit]:
    """Return the sentences of the section that these stems name; all sentences if the stems name no section."""
    best, kept = 0.5, units
    for heading in dict.fromkeys(
        each for unit in units if unit.part for each in unit.part.headings[1:] or unit.part.headings
    ):
        content = [word for word in words(fold_in_place(heading.lower())) if word not in SMALL_WORDS]
        shared = sum(not stems(word).isdisjoint(named) for word in content) / max(len(content), 1)
        if shared > best:
            best = shared
            kept = [unit for unit in units if unit.part and heading in unit.part.headings]
    return kept


def _is_quotable(text: str) -> bool:
    if not SHORTEST <= len(text) <= LONGEST or text.startswith(_UNQUOTED) or _QUESTION.search(text):
        return False
    code = sum(character in _CODE for character in text)
    return sum(character.isalpha() for character in text) * 2 > len(text) and code * MOST_CODE < len(text)


def _group(part: Part | None, place: int, characters: int) -> str:
    """Return the section or day of a sentence; in a text without sections and days, the eighth of the text it is in."""
    if part is not None and part.time is not None:
        return f"{part.time:%Y-%m-%d}"
    if part is not None and part.headings:
        return " › ".join(part.headings)
    return str(8 * place // max(characters, 1))


def _shown(document: Document, unit: Unit, citation: Citation) -> str:
    text = f"“{' '.join(without_marks(document, citation.start, citation.end).split())}”"
    if unit.part and unit.part.sender:
        when = f" ({unit.part.time:%Y-%m-%d %H:%M})" if unit.part.time else ""
        return f"{unit.part.sender}{when}: {text}"
    headings = citation.location.headings
    return f"{headings[-1]}: {text}" if len(headings) > 1 else text
