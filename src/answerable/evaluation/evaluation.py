"""Ask each question of each configuration, judge the results, and report them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from answerable.errors import SourceError
from answerable.evaluation.judging import Replied, Retriever, Searched, configure, reply, search
from answerable.evaluation.question_lists import find_documents, read_questions
from answerable.evaluation.report import Measured, SetReport, differences, figures, groups, latency, table
from answerable.evaluation.sets import Asked, QuestionSet
from answerable.evaluation.statistics import Array, operating_point
from answerable.indexing.ingest import OnProgress
from answerable.library import Library
from answerable.protocols import Embedder, Store
from answerable.settings import Settings, load_settings
from answerable.wiring.build import MEMORY, build_embedder, build_store, without_password


@dataclass(frozen=True, slots=True)
class Plan:
    """What to evaluate: the configurations, whether to ask for answers, a set's sample size (0: all), the seed."""

    retrievers: Sequence[Retriever] = (Retriever.HYBRID,)
    answers: bool = True
    sample: int = 0
    seed: int = 0
    on_asked: Callable[[str, int, int], None] = field(default=lambda name, done, total: None)


@contextmanager
def set_store(
    questions: QuestionSet, settings: Settings, embedder: Embedder, on_progress: OnProgress | None = None
) -> Iterator[Store]:
    """Yield a store in memory with the documents of a set. Raises SourceError if a document cannot be added."""
    with closing(build_store(MEMORY)) as store:
        library = configure(settings, store, embedder, Retriever.HYBRID)
        for failure in library.add_documents(questions.documents, on_progress).failures:
            raise SourceError(f"{failure.source}: {failure.error}")
        yield store


def evaluate(
    name: str, asked: Sequence[Asked], settings: Settings, store: Store, embedder: Embedder, plan: Plan
) -> SetReport:
    """Evaluate questions on a store whose vectors were made by this embedder."""
    if 0 < plan.sample < len(asked):
        asked = Random(plan.seed).sample(asked, plan.sample)
    documents, passages = store.count()
    default: Array | None = None
    measured = []
    for retriever in plan.retrievers:
        with closing(configure(settings, store, embedder, retriever)) as library:
            values, found = _measure(library, retriever, asked, default, plan, name)
        measured.append(found)
        default = values if default is None else default
    unanswerable = sum(each.is_unanswerable for each in asked)
    return SetReport(name, documents, passages, len(asked), unanswerable, measured)


def _measure(
    library: Library, retriever: Retriever, asked: Sequence[Asked], default: Array | None, plan: Plan, name: str
) -> tuple[Array, Measured]:
    """Return the figures of each question, from its search and its answer, and of all, beside the default's."""
    searched, replied, seed = list[Searched](), list[Replied](), plan.seed
    # Load the model first, so that the first question's latency does not include loading.
    library.search(asked[0].text)
    for done, each in enumerate(asked, 1):
        searched.append(search(library, each))
        if plan.answers:
            replied.append(reply(library, each))
        plan.on_asked(f"{name}, {retriever}", done, len(asked))
    said = [found.figures for found in replied] or [{} for _ in searched]
    values = table([{**found.figures, **of} for found, of in zip(searched, said, strict=True)])
    steps = [("search", [found.seconds for found in searched]), ("ask", [found.seconds for found in replied])]
    return values, Measured(
        str(retriever),
        figures(values, seed),
        groups(values, [each.language for each in asked], seed),
        groups(values, [each.type for each in asked], seed),
        [] if default is None else differences(default, values, seed),
        [latency(step, seconds) for step, seconds in steps if seconds],
        operating_point([found.is_refused for found in replied], [found.is_right for found in replied]),
    )


def evaluate_library(
    questions: str | os.PathLike[str],
    address: str | os.PathLike[str] | None = None,
    plan: Plan | None = None,
    **settings: Any,
) -> SetReport:
    """Ask a library the questions of a list (docs/evaluation.md), and return the figures.

    `address` and `settings` are as in `answerable.open`; `plan` says what to compare, by default nothing. Raise
    SourceError if the list can't be read or names unknown documents, SettingsError and LibraryError.
    """
    if address is not None:
        settings["library"] = os.fspath(address)
    return evaluate_list(load_settings(settings), Path(questions), plan or Plan())[0]


def evaluate_list(settings: Settings, path: Path, plan: Plan) -> tuple[SetReport, int, int]:
    """Return a list's figures on the settings' library, the list's length, and the number of votes skipped."""
    listed = read_questions(path)
    with closing(build_store(settings.library_address, False, settings.qdrant_api_key)) as store:
        asked = find_documents(listed, list(store.documents()), path)
        embedder = build_embedder(settings, store.fingerprint)
        name = f"{path.name} on {without_password(settings.library_address)}"
        return evaluate(name, asked, settings, store, embedder, plan), len(listed), len(listed) - len(asked)
