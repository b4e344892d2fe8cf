"""Answers that are read: what the first quotes hold, and what is refused, on articles that the reader never saw.

Reading takes a sixth of a second, so a sample of each set is asked.
"""

from __future__ import annotations

from random import Random
from statistics import fmean

import pytest

from answerable.e5.readers import E5Reader
from answerable.evaluation.refusals import side
from answerable.evaluation.sets import Query

from .harness import CACHE, Bench, holds, in_the_gate

pytestmark = pytest.mark.quality

SAMPLE = 150
NOISE = 0.007
NAMED = ("xquad/en", "squad2/en-dev", "squad2/pt-dev")
FIRST = {
    "xquad/en": 0.913, "xquad/es": 0.887, "faquad": 0.873,
    "squad2/en-dev": 0.927, "squad2/es-dev": 0.907, "squad2/pt-dev": 0.807,
}  # fmt: skip
"""Share of answerable questions whose first quote holds the answer, without the gate."""
TWO = {
    "xquad/en": 0.947, "xquad/es": 0.940, "faquad": 0.907,
    "squad2/en-dev": 0.973, "squad2/es-dev": 0.967, "squad2/pt-dev": 0.880,
}  # fmt: skip
"""The same, of the first two quotes."""
NOT_ANSWERED = {
    "xquad/en": 0.047, "xquad/es": 0.040, "faquad": 0.020,
    "squad2/en-dev": 0.047, "squad2/es-dev": 0.033, "squad2/pt-dev": 0.073,
}  # fmt: skip
"""The largest share of answerable questions that aren't answered; for most of them the nearest quote is shown."""
UNANSWERABLE = {"squad2/en-dev": 0.347, "squad2/es-dev": 0.353, "squad2/pt-dev": 0.307}
"""The smallest share of unanswerable questions that are refused."""


@pytest.fixture(scope="module")
def reader() -> E5Reader:
    return E5Reader(cache_folder=CACHE / "models")


def sample(bench: Bench, name: str, queries: list[Query]) -> list[Query]:
    """Questions on the half of the articles that neither the reader nor the gate has learnt from."""
    titles = {each.id.rsplit("-", 1)[0]: each.title for one in NAMED for each in bench.set(one).documents}

    def article(query: Query) -> str:
        number = next(iter(query.relevant)).rsplit("-", 1)[0]
        return titles.get(number, number)

    held_out = [query for query in queries if query.relevant and side(article(query)) == 1]
    return Random(name).sample(held_out, SAMPLE)


@pytest.mark.parametrize("name", in_the_gate(FIRST, "xquad/es"))
def test_questions_with_an_answer_get_it_first(bench: Bench, reader: E5Reader, name: str) -> None:
    library = bench.library(name, reader=reader)
    never_refuses = bench.library(name, gate=False, reader=reader)
    first = two = refused = 0
    for query in sample(bench, name, bench.set(name).queries):
        answer = library.ask(query.text)
        refused += not answer.answered
        # The gate only refuses: where it doesn't, the quotes are those of an answer without it.
        found = answer if answer.answered else never_refuses.ask(query.text)
        quotes = [citation.quote for citation in found.citations[:2]]
        first += holds(quotes[:1], query.answers)
        two += holds(quotes, query.answers)
    print(f"\n{name}: first quote {first / SAMPLE:.3f}, two {two / SAMPLE:.3f}, refused {refused / SAMPLE:.3f}")
    assert first / SAMPLE >= FIRST[name] - NOISE
    assert two / SAMPLE >= TWO[name] - NOISE
    assert refused / SAMPLE <= NOT_ANSWERED[name] + NOISE


@pytest.mark.long
@pytest.mark.parametrize("name", UNANSWERABLE)
def test_questions_written_to_mislead_are_refused(bench: Bench, reader: E5Reader, name: str) -> None:
    library = bench.library(name, reader=reader)
    queries = sample(bench, name, bench.set(name).unanswerable)
    share = fmean(not library.ask(query.text).answered for query in queries)
    print(f"\n{name}: {share:.3f} of the unanswerable refused")
    assert share >= UNANSWERABLE[name] - NOISE
