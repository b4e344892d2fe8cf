"""Answers on the recordings, and the marks of sentences, with floors below what was measured on 28 November 2026."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from measured import LIBRARIES, Shares, measure, played
from recorded import FOLDER, PLAYED, lines, opened

import answerable
from answerable.answering.checking.evidence import look_up
from answerable.answering.checking.marks import Mark, mark
from answerable.datatypes import RetrievalResult

pytestmark = pytest.mark.quality

FLOORS = {
    "shown whole": 1.0,
    "answers shown": 1.0,
    "refusals shown": 1.0,
    "true verified": 0.96,
    "needed passage read": 0.99,
    "needed words cited": 0.88,
}
"""Measured: 1, 1, 1, .983 (.848 before two causes seen here were mended), 1 and .906."""
TRUE_VERIFIED = 0.93
"""Of 220 true sentences, 206 are verified. Each set was blind once: 55 of 80, 45 of 70, 52 of 70. Of the last, 63 are
since negations are left to the second call, which found all of them (by rules 4 of 10 were found, and 6 true
sentences denied), and names are compared only in languages that write no other words with a capital."""
CAUGHT = {"value": 0.95, "name": 0.85}
"""Of false sentences by what isn't in the source: digits, units, months and numbers 88 of 89, names 24 of 25."""
VALUES = ("digit", "unit", "month", "number")
DOUBTED, DOUBTED_TRUE = 0.70, 0.10
"""What a second call must find of the false sentences, and may doubt of the true ones. Four readers who saw only the
prompt found 80, 80, 50 and 69 of 80, 80, 50 and 70 false ones, and doubted none of 80, 80, 70 and 70 true ones."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the libraries are kept between the tests of this module."""
    return tmp_path_factory.mktemp("recorded")


@pytest.fixture(scope="module")
def libraries(kept: Path) -> Iterator[dict[str, answerable.Library]]:
    found = {name: opened(name, kept) for name in LIBRARIES}
    yield found
    for library in found.values():
        library.close()


@pytest.fixture(scope="module")
def marked(libraries: dict[str, answerable.Library]) -> list[tuple[dict[str, str], Mark]]:
    """Each sentence of `claims.jsonl` with the mark that the rules give it beside its evidence."""
    passages: dict[tuple[str, str], list[RetrievalResult]] = {}
    found = []
    for claim in lines(FOLDER / "claims.jsonl"):
        evidence = []
        for each in claim["evidence"]:
            place = claim["library"], each["file"]
            if place not in passages:
                passages[place] = _passages(libraries[place[0]], place[1])
            looked_up = look_up(each["text"], passages[place], {})
            assert looked_up is not None, claim["id"]
            if looked_up not in evidence:
                evidence.append(looked_up)
        found.append((claim, mark(claim["sentence"], evidence, claim["language"]).mark))
    return found


def _passages(library: answerable.Library, file: str) -> list[RetrievalResult]:
    (stored,) = (each for each in library.store.documents() if each.source.endswith(f"/{file}"))
    document = library.document(stored.id)
    return [RetrievalResult(chunk, 0.0, replace(document, parts=())) for chunk in library.store.chunks(stored.id)]


@pytest.mark.usefixtures("libraries")
def test_a_model_that_searches_is_heard(kept: Path) -> None:
    shares = Shares()
    for name in LIBRARIES:
        measure(played(name, kept), shares)
    print(shares)
    assert {name: shares.share(name) for name, floor in FLOORS.items() if shares.share(name) < floor} == {}, (
        shares.wrong
    )


def test_a_summary_cites_every_part_and_a_comparison_both_documents(kept: Path) -> None:
    answers = {each.question["id"]: each for each in played("manual", kept)}
    summary, comparison = answers["manual-39"], answers["manual-40"]
    cited = {heading for citation in summary.answer.citations for heading in citation.location.headings}
    assert not [part for part in summary.question["sections"] if part not in cited]
    sources = {Path(citation.source).name for citation in comparison.answer.citations}
    assert set(comparison.question["cites"]) <= sources


def test_true_sentences_are_verified_and_values_from_elsewhere_caught(
    marked: list[tuple[dict[str, str], Mark]],
) -> None:
    counts = Counter((_kind(claim), found is Mark.VERIFIED) for claim, found in marked)
    print(counts)
    assert counts["true", True] / (counts["true", True] + counts["true", False]) >= TRUE_VERIFIED
    for kind, floor in CAUGHT.items():
        assert counts[kind, False] / (counts[kind, True] + counts[kind, False]) >= floor, kind


def _kind(claim: dict[str, str]) -> str:
    kind = claim["kind"].removeprefix("false: ")
    if claim["true"]:
        return "true"
    return "name" if "name" in kind else "value" if any(each in kind for each in VALUES) else "misread"


def _set(name: str) -> str:
    """The set of a sentence, by the letter before its number: one that strangers wrote and a reader read as a whole."""
    return name[0] if name[0] in "bd" and name[1].isdecimal() else ""


def test_a_second_call_finds_what_is_misread(marked: list[tuple[dict[str, str], Mark]]) -> None:
    rules = {claim["id"]: (claim, found) for claim, found in marked}
    for reader in lines(PLAYED / "claims.jsonl"):
        own = [pair for name, pair in rules.items() if _set(name) == _set(reader["doubts"][0])]
        kept = [claim for claim, found in own if found is Mark.VERIFIED and claim["id"] not in reader["doubts"]]
        false, true = (sum(bool(claim["true"]) is wanted for claim, _ in own) for wanted in (False, True))
        passed, left = (sum(bool(claim["true"]) is wanted for claim in kept) for wanted in (False, True))
        doubted = sum(rules[name][0]["true"] is True for name in reader["doubts"])
        print(f"{reader['reader']}: false not verified {1 - passed / false:.3f}, true verified {left / true:.3f}")
        assert 1 - passed / false >= DOUBTED
        assert doubted / true <= DOUBTED_TRUE
