"""Question sets → cases for a gate: what it sees of questions that a library answers, and of ones that it doesn't."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from hashlib import sha256

import numpy as np

from answerable.answering.evidence import sentences
from answerable.answering.extractive import ExtractiveAnswerer, rank
from answerable.answering.gate import is_crossed
from answerable.answering.signals import Background, Signals, read_signals
from answerable.datatypes import Document
from answerable.evaluation.copies import copies
from answerable.evaluation.sets import Query, QuestionSet
from answerable.library import Library
from answerable.protocols import Embedder, Store
from answerable.settings import Settings
from answerable.wiring.build import build_reader, build_splitter, build_store

SMALL = (1, 3)
"""How many documents the small libraries hold."""


class Kind(str, Enum):
    """What was done to the question's document; where it is removed, those that repeat it are too."""

    ANSWERABLE = "answerable"
    REMOVED = "its document removed"
    FOREIGN = "of another set"
    UNANSWERABLE = "without an answer by the set's own word"


@dataclass(frozen=True, slots=True)
class Case:
    """A question asked of a library: of all of a set, or of few documents. `closest` is the highest passage cosine.

    `is_crossed` is that the question is in another language than what was found.
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
    """How many questions of a set are asked, how many of other sets, and how many small libraries are made of it."""

    questions: int = 1200
    foreign: int = 300
    small_libraries: int = 60
    seed: int = 0


def side(article: str) -> int:
    """0 for the half of the articles that a gate is fitted on, 1 for the half that its figures come from."""
    return sha256(article.encode()).digest()[0] % 2


def by_title(_: str, document: Document) -> str:
    """The article that a document belongs to: its title, or itself where it has none."""
    return document.title or document.id


def measure_background(sets: Iterable[QuestionSet], embedder: Embedder, sample: int = 200) -> Background:
    """The cosines of questions with passages of documents drawn at random, over all sets."""
    means, deviations = [], []
    for questions in sets:
        draw = random.Random(questions.name)
        library, store = _library(draw.sample(questions.documents, min(sample, len(questions.documents))), embedder)
        asked = draw.sample(questions.queries, min(sample, len(questions.queries)))
        chunks = library.stats().chunks
        cosines = [
            [cosine for _, cosine in store.search_vectors(embedder.embed_query(query.text), chunks, None)]
            for query in asked
        ]
        means.append(float(np.mean(cosines)))
        deviations.append(float(np.std(cosines)))
    return Background(round(float(np.mean(means)), 4), round(float(np.mean(deviations)), 4))


def collect_cases(
    sets: Sequence[QuestionSet],
    embedder: Embedder,
    background: Background | None,
    sampling: Sampling | None = None,
    article_of: Callable[[str, Document], str] = by_title,
    on_progress: Callable[[str], None] = lambda name: None,
) -> list[Case]:
    """The cases of every set. `article_of` names the article of a set's document, for the split and for strangers.

    A question is a stranger to a library that has no document of its article.
    """
    sampling = sampling or Sampling()
    embedder = _QuestionMemory(embedder)
    cases: list[Case] = []
    articles = {
        questions.name: {document.id: article_of(questions.name, document) for document in questions.documents}
        for questions in sets
    }

    def article(questions: QuestionSet, query: Query) -> str:
        return articles[questions.name].get(next(iter(query.relevant), ""), "")

    for questions in sets:
        on_progress(questions.name)
        draw = random.Random(f"{sampling.seed} {questions.name}")
        here = set(articles[questions.name].values())
        strangers = [
            (article(other, query), query)
            for other in sets
            for query in other.queries
            if article(other, query) not in here
        ]
        draw.shuffle(strangers)
        run = _Run(questions.name, embedder, background, cases)
        documents = {document.id: document for document in questions.documents}
        asked = draw.sample(questions.queries, min(sampling.questions, len(questions.queries)))

        library, _ = _library(questions.documents, embedder)
        for query in asked:
            run.ask(library, query, Kind.ANSWERABLE, article(questions, query))
        for name, query in strangers[: sampling.foreign]:
            run.ask(library, query, Kind.FOREIGN, name)
        for query in draw.sample(questions.unanswerable, min(sampling.questions, len(questions.unanswerable))):
            run.ask(library, query, Kind.UNANSWERABLE, article(questions, query))
        repeated = copies(questions.documents)
        for relevant in dict.fromkeys(tuple(sorted(query.relevant)) for query in asked):
            removed = sorted({*relevant, *(other for each in relevant for other in repeated.get(each, ()))})
            for document_id in removed:
                library.remove(document_id)
            for query in asked:
                if tuple(sorted(query.relevant)) == relevant:
                    run.ask(library, query, Kind.REMOVED, article(questions, query))
            library.add_documents([documents[document_id] for document_id in removed])

        siblings: dict[str, list[Document]] = {}
        for document in questions.documents:
            siblings.setdefault(articles[questions.name][document.id], []).append(document)
        for number, query in enumerate(asked[: sampling.small_libraries]):
            family = siblings[article(questions, query)]
            gold = [documents[document_id] for document_id in query.relevant]
            others = [document for document in family if document.id not in query.relevant]
            draw.shuffle(others)
            small, _ = _library([*gold, *others[: SMALL[number % len(SMALL)] - 1]], embedder)
            held = {document.id for document in small.documents()}
            near = [one for one in questions.queries if article(questions, one) == article(questions, query)]
            draw.shuffle(near)
            inside = [one for one in near if held.issuperset(one.relevant)][:4]
            outside = [one for one in near if held.isdisjoint(one.relevant)][:4]
            for one in inside:
                run.ask(small, one, Kind.ANSWERABLE, article(questions, query), is_small=True)
            for one in outside:
                run.ask(small, one, Kind.REMOVED, article(questions, query), is_small=True)
            for name, one in draw.sample(strangers, min(4, len(strangers))):
                run.ask(small, one, Kind.FOREIGN, name, is_small=True)
    return cases


@dataclass(frozen=True, slots=True)
class _Run:
    corpus: str
    embedder: Embedder
    background: Background | None
    cases: list[Case]

    def ask(self, library: Library, query: Query, kind: Kind, article: str, is_small: bool = False) -> None:
        evidence = library.evidence(query.text)
        ranked = [sentence for sentence, _ in rank(query.text, list(sentences(evidence)))]
        if ranked:
            signals = read_signals(evidence, ranked, self.background)
            closest = max(float(np.dot(chunk.vector, evidence.vector)) for chunk in evidence.chunks)
            crossed = is_crossed(evidence)
            self.cases.append(Case(self.corpus, kind, article, is_small, signals, closest, crossed))


class _QuestionMemory:
    """An embedder that embeds no question twice: each is asked of several libraries."""

    def __init__(self, embedder: Embedder) -> None:
        self.fingerprint = embedder.fingerprint
        self.embed_passages = embedder.embed_passages
        self.count_tokens = embedder.count_tokens
        self.cost = embedder.cost
        self.embed_query = lru_cache(maxsize=None)(embedder.embed_query)


def _library(documents: Sequence[Document], embedder: Embedder) -> tuple[Library, Store]:
    settings = Settings()
    store = build_store(":memory:")
    library = Library(
        store,
        embedder,
        build_splitter(settings),
        build_reader(settings),
        ExtractiveAnswerer(None, settings.quotes),
    )
    library.add_documents(documents)
    return library, store
