"""Ask each question of each configuration, judge the results, and report them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from random import Random

from answerable.errors import SourceError
from answerable.evaluation.asked import Asked
from answerable.evaluation.confidence import (
    Reliability,
    area_under_risk,
    operating_point,
    reliability,
    risk_coverage,
    thinned,
)
from answerable.evaluation.configurations import Configured, Retriever, configure
from answerable.evaluation.judging import Replied, Searched, reply, search
from answerable.evaluation.report import (
    Measured,
    SetReport,
    differences,
    figures,
    groups,
    latency,
    table,
)
from answerable.evaluation.sets import QuestionSet
from answerable.evaluation.statistics import Array
from answerable.indexing.ingest import OnProgress
from answerable.protocols import Embedder, Store
from answerable.settings import Settings
from answerable.wiring.build import MEMORY, build_store

CURVE = 200
"""Maximum points of a curve."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to evaluate: the configurations, with answers or not, the sample size of a set (0: all), the seed."""

    retrievers: Sequence[Retriever] = (Retriever.HYBRID,)
    answers: bool = True
    sample: int = 0
    seed: int = 0
    on_asked: Callable[[str, int, int], None] = field(default=lambda name, done, total: None)


@contextmanager
def set_store(
    questions: QuestionSet, settings: Settings, embedder: Embedder, on_progress: OnProgress | None = None
) -> Iterator[Store]:
    """Make a store in memory with the documents of a set. Raises SourceError if a document cannot be added."""
    with closing(build_store(MEMORY)) as store:
        library = configure(settings, store, embedder, Retriever.HYBRID).library
        for failure in library.add_documents(questions.documents, on_progress).failures:
            raise SourceError(f"{failure.source}: {failure.error}")
        yield store


def evaluate(
    name: str, asked: Sequence[Asked], settings: Settings, store: Store, embedder: Embedder, plan: Plan
) -> SetReport:
    """Evaluate questions on a store whose vectors come from this embedder."""
    if 0 < plan.sample < len(asked):
        asked = Random(plan.seed).sample(asked, plan.sample)
    documents, passages = store.count()
    default: Array | None = None
    measured = []
    for retriever in plan.retrievers:
        with closing(configure(settings, store, embedder, retriever)) as configured:
            run = _run(configured, asked, plan, name)
        measured.append(_measure(run, asked, default, plan.seed))
        default = run.values if default is None else default
    unanswerable = sum(each.is_unanswerable for each in asked)
    return SetReport(name, documents, passages, len(asked), unanswerable, measured)


@dataclass(frozen=True, slots=True)
class _Run:
    retriever: Retriever
    searched: list[Searched]
    replied: list[Replied]

    @property
    def values(self) -> Array:
        """The figures of each question, from its search and its answer."""
        said = [each.figures for each in self.replied] or [{} for _ in self.searched]
        return table([{**found.figures, **of} for found, of in zip(self.searched, said, strict=True)])


def _run(configured: Configured, asked: Sequence[Asked], plan: Plan, name: str) -> _Run:
    run = _Run(configured.retriever, [], [])
    # Loads the model, so that the first question's latency does not include it.
    configured.library.search(asked[0].text)
    for done, each in enumerate(asked, 1):
        run.searched.append(search(configured.library, each))
        if plan.answers:
            run.replied.append(reply(configured, each))
        plan.on_asked(f"{name}, {configured.retriever}", done, len(asked))
    return run


def _measure(run: _Run, asked: Sequence[Asked], default: Array | None, seed: int) -> Measured:
    values = run.values
    curve = risk_coverage(run.replied)
    steps = [("search", [each.seconds for each in run.searched]), ("ask", [each.seconds for each in run.replied])]
    return Measured(
        str(run.retriever),
        figures(values, seed),
        groups(values, [each.language for each in asked], seed),
        groups(values, [each.type for each in asked], seed),
        [] if default is None else differences(default, values, seed),
        [latency(step, seconds) for step, seconds in steps if seconds],
        thinned(curve, CURVE),
        area_under_risk(curve),
        operating_point(run.replied),
        _reliability(run.replied, asked),
    )


def _reliability(replies: Sequence[Replied], asked: Sequence[Asked]) -> Reliability | None:
    if not replies or not any(each.is_unanswerable for each in asked):
        return None
    return reliability([each.confidence for each in replies], [each.is_right for each in replies])
