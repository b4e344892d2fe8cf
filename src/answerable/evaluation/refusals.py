"""Collect cases for a gate: its signals for questions that a library can answer, and for questions that it can't."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from hashlib import sha256

import numpy as np

from answerable.answering.decide import Answering
from answerable.answering.found import Found
from answerable.answering.gate import Signals, is_crossed, read_signals
from answerable.answering.reading import PASSAGES, read
from answerable.answering.sentences import Sentence
from answerable.datatypes import Document
from answerable.evaluation.sets import Query, QuestionSet
from answerable.library import PASSAGES_PER_ANSWER, Library
from answerable.protocols import AnswerReader, Embedder
from answerable.settings import Settings
from answerable.text.terms import fold, words
from answerable.wiring.build import build_reader, build_splitter, build_store

SMALL = (1, 3)
"""Sizes of the small libraries, in documents."""


class Kind(str, Enum):
    """Whether the library answers a question, or why not. If a document is removed, so are its copies."""

    ANSWERABLE = "answerable"
    REMOVED = "its document removed"
    FOREIGN = "of another set"
    UNANSWERABLE = "marked as unanswerable by the set"


@dataclass(frozen=True, slots=True)
class Case:
    """A question asked of a whole set or of a small library. `closest` is the highest cosine of a passage.

    `is_crossed` is true if the passages found are in another language than the question.
    """

    corpus: str
    kind: Kind
    article: str
    is_small: bool
    signals: Signals
    closest: float
    is_crossed: bool = False


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many questions to ask from a set and from other sets, how many small libraries to make, the reader model."""

    questions: int = 1200
    foreign: int = 300
    small_libraries: int = 60
    seed: int = 0
    reader: AnswerReader | None = None


def side(article: str) -> int:
    """Return 0 if the article is in the half that fits a gate, 1 if it is in the half that measures the gate."""
    return sha256(article.encode()).digest()[0] % 2


def by_title(_: str, document: Document) -> str:
    """Return the article that a document belongs to: its title, or its id without a title."""
    return document.title or document.id


def collect_cases(
    sets: Sequence[QuestionSet],
    embedder: Embedder,
    sampling: Sampling | None = None,
    article_of: Callable[[str, Document], str] = by_title,
    on_progress: Callable[[str], None] = lambda name: None,
) -> list[Case]:
    """Return the cases of every set. `article_of` returns the article of a document.

    All cases of an article belong to the same half. A question is foreign to a library that lacks its article.
    """
    sampling = sampling or Sampling()
    embedder = _QuestionMemory(embedder)
    articles = {
        questions.name: {document.id: article_of(questions.name, document) for document in questions.documents}
        for questions in sets
    }
    asked = [(_article(articles[each.name], query), query) for each in sets for query in each.queries]
    cases: list[Case] = []
    for questions in sets:
        on_progress(questions.name)
        run = _SetRun(questions, articles[questions.name], embedder, sampling)
        here = set(run.articles.values())
        run.ask_all([(article, query) for article, query in asked if article not in here])
        cases += run.cases
    return cases


def _article(articles: Mapping[str, str], query: Query) -> str:
    return articles.get(next(iter(query.relevant), ""), "")


class _SetRun:
    """Collects the cases of one set; `articles` maps the ids of its documents to their articles."""

    def __init__(
        self,
        questions: QuestionSet,
        articles: Mapping[str, str],
        embedder: Embedder,
        sampling: Sampling,
    ) -> None:
        self.questions = questions
        self.articles = articles
        self.cases: list[Case] = []
        self._embedder = embedder
        self._sampling = sampling
        self._documents = {document.id: document for document in questions.documents}
        self._draw = random.Random(f"{sampling.seed} {questions.name}")

    def ask_all(self, strangers: list[tuple[str, Query]]) -> None:
        """Ask questions of the whole set, then of the set without their documents, then of small libraries.

        `strangers` are questions about articles that the set lacks, each with its article.
        """
        self._draw.shuffle(strangers)
        questions, sampling = self.questions, self._sampling
        asked = self._draw.sample(questions.queries, min(sampling.questions, len(questions.queries)))
        library = _library(questions.documents, self._embedder, sampling.reader)
        for query in asked:
            self.ask(library, query, Kind.ANSWERABLE, _article(self.articles, query))
        for article, query in strangers[: sampling.foreign]:
            self.ask(library, query, Kind.FOREIGN, article)
        for query in self._draw.sample(questions.unanswerable, min(sampling.questions, len(questions.unanswerable))):
            self.ask(library, query, Kind.UNANSWERABLE, _article(self.articles, query))
        self._ask_without_documents(library, asked)
        for number, query in enumerate(asked[: sampling.small_libraries]):
            self._ask_small(query, SMALL[number % len(SMALL)], strangers)

    def _ask_without_documents(self, library: Library, asked: Sequence[Query]) -> None:
        repeated = copies(self.questions.documents)
        for relevant in dict.fromkeys(tuple(sorted(query.relevant)) for query in asked):
            removed = sorted({*relevant, *(other for each in relevant for other in repeated.get(each, ()))})
            for document_id in removed:
                library.remove(document_id)
            for query in asked:
                if tuple(sorted(query.relevant)) == relevant:
                    self.ask(library, query, Kind.REMOVED, _article(self.articles, query))
            library.add_documents([self._documents[document_id] for document_id in removed])

    def _ask_small(self, query: Query, size: int, strangers: Sequence[tuple[str, Query]]) -> None:
        """Ask questions of a library of `size` documents: the query's documents, and others of the same article."""
        article = _article(self.articles, query)
        gold = [self._documents[document_id] for document_id in query.relevant]
        others = [
            document
            for document in self.questions.documents
            if self.articles[document.id] == article and document.id not in query.relevant
        ]
        self._draw.shuffle(others)
        small = _library([*gold, *others[: size - 1]], self._embedder, self._sampling.reader)
        held = {document.id for document in small.documents()}
        near = [one for one in self.questions.queries if _article(self.articles, one) == article]
        self._draw.shuffle(near)
        for one in [one for one in near if held.issuperset(one.relevant)][:4]:
            self.ask(small, one, Kind.ANSWERABLE, article, is_small=True)
        for one in [one for one in near if held.isdisjoint(one.relevant)][:4]:
            self.ask(small, one, Kind.REMOVED, article, is_small=True)
        for other, one in self._draw.sample(strangers, min(4, len(strangers))):
            self.ask(small, one, Kind.FOREIGN, other, is_small=True)

    def ask(self, library: Library, query: Query, kind: Kind, article: str, is_small: bool = False) -> None:
        """Ask one question and add its case, unless the search finds nothing."""
        found = library.evidence(query.text)
        if ranked := read(found, self._sampling.reader):
            self.cases.append(case_of(found, ranked, self.questions.name, kind, article, is_small))


def case_of(
    found: Found, ranked: Sequence[Sentence], corpus: str, kind: Kind, article: str, is_small: bool = False
) -> Case:
    """Return the case of a question whose sentences (at least one) were ranked."""
    closest = max(float(np.dot(chunk.vector, found.asked.vector)) for chunk in found.chunks)
    signals = read_signals(found, ranked)
    return Case(corpus, kind, article, is_small, signals, closest, is_crossed(found))


class _QuestionMemory:
    """An embedder that embeds each question only once, because several libraries are asked each question."""

    def __init__(self, embedder: Embedder) -> None:
        self.fingerprint = embedder.fingerprint
        self.embed_passages = embedder.embed_passages
        self.count_tokens = embedder.count_tokens
        self.cost = embedder.cost
        self.embed_query = lru_cache(maxsize=None)(embedder.embed_query)


def _library(documents: Sequence[Document], embedder: Embedder, reader: AnswerReader | None) -> Library:
    settings = Settings()
    library = Library(
        build_store(":memory:"),
        embedder,
        build_splitter(settings),
        build_reader(settings),
        Answering(quotes=settings.quotes),
        passages=PASSAGES if reader else PASSAGES_PER_ANSWER,
    )
    library.add_documents(documents)
    return library


LENGTH = 4
"""Words of a sequence; shorter sequences also occur in unrelated documents. A guess, not measured."""
SHARE = 0.3
"""Share of a document's sequences that another must have to count as containing it. A guess, not measured."""


def copies(documents: Sequence[Document]) -> dict[str, frozenset[str]]:
    """Map each document's id to the ids of documents that contain at least 30 % of its sequences of four words."""
    sequences = {document.id: _sequences(document.content) for document in documents}
    holders: dict[tuple[str, ...], list[str]] = {}
    for name, held in sequences.items():
        for sequence in held:
            holders.setdefault(sequence, []).append(name)
    found = {}
    for name, held in sequences.items():
        shared = Counter(other for sequence in held for other in holders[sequence] if other != name)
        repeating = frozenset(other for other, count in shared.items() if count >= SHARE * len(held))
        if repeating:
            found[name] = repeating
    return found


def _sequences(text: str) -> set[tuple[str, ...]]:
    spelt = [fold(word) for word in words(text)]
    return {tuple(spelt[start : start + LENGTH]) for start in range(len(spelt) - LENGTH + 1)}
