"""Extractive answers and refusals on the development sets, and that every citation stands where it says."""

from __future__ import annotations

from statistics import fmean

import pytest

from answerable import Answer

from .harness import Bench, holds

pytestmark = pytest.mark.quality

NOISE = 0.005
SAMPLE = 400
# Set: share of the questions whose gold answer stands in the two best quotes, gate off; false refusals, gate on.
CONTAINED = {"xquad/en": 0.910, "xquad/es": 0.886, "faquad": 0.887}
FALSE_REFUSALS = 0.10
# Questions of one set on the library of another: the share that must be refused.
FOREIGN = {
    ("xquad/en", "scifact"): 0.85,
    ("scifact", "xquad/en"): 0.85,
    ("xquad/es", "faquad"): 0.85,
    ("faquad", "xquad/es"): 0.85,
    # No strangers: FaQuAD's questions are on computing, of which that corpus has articles (measured: .818).
    ("faquad", "squad2/pt-dev"): 0.81,
    ("squad2/pt-dev", "faquad"): 0.85,
}


def verified(bench: Bench, name: str, answer: Answer) -> bool:
    """Every citation of the answer stands verbatim in its document, one for each mark in the text."""
    contents = {document.id: document.content for document in bench.set(name).documents}
    marks = all(f"[{number}]" in answer.text for number in range(1, len(answer.citations) + 1))
    return marks and all(
        contents[citation.document_id][citation.start : citation.end] == citation.quote for citation in answer.citations
    )


@pytest.mark.parametrize("name", CONTAINED)
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


@pytest.mark.parametrize("name", [*CONTAINED, "squad2/en-dev"])
def test_answerable_questions_are_answered(bench: Bench, name: str) -> None:
    library = bench.library(name)
    answers = [library.ask(query.text) for query in bench.set(name).queries if query.answers]
    refused = fmean(not answer.answered for answer in answers)
    print(f"\n{name}: false refusals {refused:.4f}")
    assert all(verified(bench, name, answer) for answer in answers)
    assert refused <= FALSE_REFUSALS


@pytest.mark.parametrize(("questions", "corpus"), FOREIGN)
def test_questions_from_another_corpus_are_refused(bench: Bench, questions: str, corpus: str) -> None:
    library = bench.library(corpus)
    answers = [library.ask(query.text) for query in bench.set(questions).queries[:SAMPLE]]
    refused = fmean(not answer.answered for answer in answers)
    print(f"\n{questions} asked of {corpus}: refused {refused:.4f}")
    assert all(verified(bench, corpus, answer) for answer in answers)
    assert refused >= FOREIGN[questions, corpus]
