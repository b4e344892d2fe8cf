"""Answers and refusals without a reader on the development sets, and that every citation stands where it says.

Every question is asked, but of those on articles that the gate wasn't fitted on at most 700 of a set and a kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from statistics import fmean

import pytest

from answerable import Answer, Document
from answerable.answering.gate import packaged_gates
from answerable.evaluation.calibration import Figures, figures
from answerable.evaluation.refusals import Kind, Sampling, collect_cases, side
from answerable.evaluation.sets import Query

from .harness import LOCAL, Bench, holds, in_the_gate

pytestmark = pytest.mark.quality

Asked = Callable[[str], list[tuple[Query, Answer]]]

NOISE = 0.005
# Set: share of the questions whose gold answer stands in the two best quotes, gate off.
CONTAINED = {"xquad/en": 0.920, "xquad/es": 0.901, "faquad": 0.905}
# The same in three quotes, of the questions whose gold answer stands verbatim in their paragraph.
WITHIN_THREE = {"squad2/en-dev": 0.956, "squad2/es-dev": 0.939, "squad2/pt-dev": 0.885}
# These are all questions of XQuAD and FaQuAD on articles that the gate wasn't fitted on, and as many of SQuAD 2.
HELD_OUT = Sampling(questions=700, foreign=150, small_libraries=0)
SETS = (*CONTAINED, *WITHIN_THREE)
# Area under the curve with the right paragraph removed, and with questions written to have no answer in it.
AREAS = {
    "xquad/en": 0.941,
    "xquad/es": 0.950,
    "faquad": 0.869,
    "squad2/en-dev": 0.878,
    "squad2/es-dev": 0.819,
    "squad2/pt-dev": 0.831,
}
WRITTEN_TO_MISLEAD = {"squad2/en-dev": 0.656, "squad2/es-dev": 0.639, "squad2/pt-dev": 0.642}
# How much of that is above the area of the highest cosine alone.
ABOVE_CLOSENESS = {"squad2/en-dev": 0.018, "squad2/es-dev": 0.006, "squad2/pt-dev": 0.024}
# What isn't answered, at the default target, of all questions with an answer; for at most OUTRIGHT of them nothing near
# is shown either. Up to .05 less with eleven signals instead of two, which were fitted to these sets.
NOT_ANSWERED = {
    "xquad/en": 0.093,
    "xquad/es": 0.056,
    "faquad": 0.003,
    "squad2/en-dev": 0.076,
    "squad2/es-dev": 0.064,
    "squad2/pt-dev": 0.044,
}
OUTRIGHT = 0.013
# The same of those on articles that the gate wasn't fitted on, and of questions of the other sets.
HELD_OUT_REFUSALS = {
    "xquad/en": 0.097,
    "xquad/es": 0.054,
    "faquad": 0.003,
    "squad2/en-dev": 0.076,
    "squad2/es-dev": 0.059,
    "squad2/pt-dev": 0.039,
}
STRANGERS = {
    "xquad/en": 0.993,
    "xquad/es": 0.947,
    "faquad": 0.993,
    "squad2/en-dev": 0.987,
    "squad2/es-dev": 0.947,
    "squad2/pt-dev": 0.967,
}
# Questions of one set on the library of another, asked as a user would: the share that must be refused.
FOREIGN = {
    ("xquad/en", "scifact"): 0.955,
    ("scifact", "xquad/en"): 0.990,
    ("xquad/es", "faquad"): 0.987,
    ("faquad", "xquad/es"): 0.932,
    ("squad2/pt-dev", "faquad"): 0.965,
    # No strangers: FaQuAD asks about computing, of which that corpus has articles.
    ("faquad", "squad2/pt-dev"): 0.849,
}


def verified(bench: Bench, name: str, answer: Answer) -> bool:
    """Every citation of the answer stands verbatim in its document, one for each mark in the text."""
    contents = {document.id: document.content for document in bench.set(name).documents}
    marks = all(f"[{number}]" in answer.text for number in range(1, len(answer.citations) + 1))
    return marks and all(
        contents[citation.document_id][citation.start : citation.end] == citation.quote for citation in answer.citations
    )


@pytest.fixture(scope="module")
def asked(bench: Bench) -> Asked:
    """Gives a set's questions that have an answer, each with what the default settings answer; asked only once."""

    @cache
    def ask(name: str) -> list[tuple[Query, Answer]]:
        library = bench.library(name)
        queries = [query for query in bench.set(name).queries if query.answers]
        return [(query, replace(library.ask(query.text), results=())) for query in queries]

    return ask


@pytest.mark.parametrize("name", in_the_gate(CONTAINED, "faquad"))
def test_two_quotes_hold_the_answer(bench: Bench, name: str) -> None:
    library = bench.library(name, gate=False, quotes=2)
    queries = [query for query in bench.set(name).queries if query.answers]
    answers = [library.ask(query.text) for query in queries]
    share = fmean(
        holds([citation.quote for citation in answer.citations], query.answers)
        for query, answer in zip(queries, answers, strict=True)
    )
    print(f"\n{name}: gold answer within two quotes {share:.4f}")
    assert all(verified(bench, name, answer) for answer in answers)
    assert share >= CONTAINED[name] - NOISE


@pytest.mark.long
@pytest.mark.parametrize("name", WITHIN_THREE)
def test_three_quotes_hold_the_answer(bench: Bench, asked: Asked, name: str) -> None:
    library = bench.library(name, gate=False, quotes=3)
    contents = {document.id: document.content for document in bench.set(name).documents}
    # The gate only refuses: where it doesn't, the quotes are those of an answer without it.
    held = [
        holds(
            [citation.quote for citation in (answer if answer.answered else library.ask(query.text)).citations],
            query.answers,
        )
        for query, answer in asked(name)
        if holds([contents[document] for document in query.relevant], query.answers)
    ]
    print(f"\n{name}: gold answer within three quotes {fmean(held):.4f} of {len(held)}")
    assert fmean(held) >= WITHIN_THREE[name] - NOISE


@pytest.mark.parametrize("name", in_the_gate(SETS, "xquad/es", "faquad"))
def test_answerable_questions_are_answered(bench: Bench, asked: Asked, name: str) -> None:
    answers = [answer for _, answer in asked(name)]
    near = fmean(answer.verdict == "near" for answer in answers)
    refused = fmean(answer.verdict == "not found" for answer in answers)
    print(f"\n{name}: near {near:.4f}, not found {refused:.4f}")
    assert all(verified(bench, name, answer) for answer in answers)
    assert near + refused <= NOT_ANSWERED[name] + NOISE
    assert refused <= OUTRIGHT


@pytest.mark.parametrize(("questions", "corpus"), in_the_gate(FOREIGN, ("xquad/es", "faquad"), ("faquad", "xquad/es")))
def test_questions_from_another_corpus_are_refused(bench: Bench, questions: str, corpus: str) -> None:
    library = bench.library(corpus)
    answers = [library.ask(query.text) for query in bench.set(questions).queries]
    refused = fmean(not answer.answered for answer in answers)
    print(f"\n{questions} asked of {corpus}: refused {refused:.4f}")
    assert all(verified(bench, corpus, answer) for answer in answers)
    assert refused >= FOREIGN[questions, corpus] - NOISE


@pytest.fixture(scope="module")
def held_out(bench: Bench) -> dict[str, Figures]:
    """What the packaged gate does to the questions of articles that it wasn't fitted on, by set."""
    titles: dict[str, str] = {}
    for name in ("xquad/en", "squad2/en-dev", "squad2/pt-dev"):
        for document in bench.set(name).documents:
            titles.setdefault(document.id.rsplit("-", 1)[0], document.title)

    def article(_: str, document: Document) -> str:
        number = document.id.rsplit("-", 1)[0]
        return titles.get(number, number)

    sets = []
    for name in SETS:
        whole = bench.set(name)
        kept = {document.id for document in whole.documents if side(article(name, document)) == 1}
        queries, unanswerable = (
            [query for query in some if not kept.isdisjoint(query.relevant)]
            for some in (whole.queries, whole.unanswerable)
        )
        sets.append(replace(whole, queries=queries, unanswerable=unanswerable))
    gate = packaged_gates()[LOCAL]
    cases = collect_cases(sets, bench.embedder, HELD_OUT, article)
    return {found.corpus: found for found in figures(gate, cases)}


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_refusals_are_of_what_has_no_answer(held_out: dict[str, Figures], name: str) -> None:
    refused = held_out[name].refused
    print(f"\n{name}: refused {', '.join(f'{kind.value} {share:.3f}' for kind, share in refused.items())}")
    assert refused[Kind.ANSWERABLE] <= HELD_OUT_REFUSALS[name] + NOISE
    assert refused[Kind.FOREIGN] >= STRANGERS[name] - NOISE


@pytest.mark.long
@pytest.mark.parametrize("name", AREAS)
def test_a_removed_paragraph_is_noticed(held_out: dict[str, Figures], name: str) -> None:
    found = held_out[name]
    print(f"\n{name}: area {found.area:.4f}, plain cosine {found.cosine_area:.4f}")
    assert found.area >= AREAS[name] - NOISE
    assert found.area >= found.cosine_area + 0.05


@pytest.mark.long
@pytest.mark.parametrize("name", WRITTEN_TO_MISLEAD)
def test_questions_written_to_mislead_are_told_apart_better_than_by_closeness(
    held_out: dict[str, Figures], name: str
) -> None:
    found = held_out[name]
    print(f"\n{name}: area {found.unanswerable_area:.4f}, plain cosine {found.unanswerable_cosine_area:.4f}")
    assert found.unanswerable_area >= WRITTEN_TO_MISLEAD[name] - NOISE
    assert found.unanswerable_area - found.unanswerable_cosine_area >= ABOVE_CLOSENESS[name] - NOISE
