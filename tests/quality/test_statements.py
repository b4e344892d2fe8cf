"""The check of single sentences, on statements written by hand about passages: half are true.

Somebody who hadn't read the code wrote them, and somebody else judged all of them the same. They are only measured.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from answerable.answering.checking.check import check_answer
from answerable.datatypes import Document, RetrievalResult
from answerable.evaluation.sets import QuestionSet
from answerable.splitting.recursive import RecursiveSplitter

from .harness import data_folder

pytestmark = pytest.mark.quality

STATEMENTS = Path(__file__).parent / "data" / "statements"
# At least this share of the true ones is accepted, and of the false ones caught: by the language of the passage, and of
# statements in another language than their passage. One or two less than measured, since processors round differently.
FLOORS = {"en": (0.80, 0.24), "es": (0.78, 0.24), "pt": (0.74, 0.26), "across": (0.74, 0.36)}


@dataclass(frozen=True)
class Judged:
    """A statement, and whether the check accepted it."""

    kind: str
    language: str
    is_foreign: bool
    is_true: bool
    is_accepted: bool


@cache
def judged() -> tuple[Judged, ...]:
    """All statements, each checked as the only sentence of an answer that was given its passage.

    `LANGUAGE.jsonl` has those about passages in that language.
    """
    return tuple(_judged())


def _judged() -> Iterator[Judged]:
    for path in sorted(STATEMENTS.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            name, _, number = row["passage"].partition(":")
            document = replace(_documents(name)[number], language=path.stem)
            chunk = RecursiveSplitter(100_000, 0).split(document)[0]
            checked = check_answer(
                row["statement"], [RetrievalResult(chunk, 1.0, document)], row["language"], marks=False
            )
            is_accepted = not checked.removed
            is_foreign = row["language"] != document.language
            yield Judged(row["kind"], document.language, is_foreign, row["true"], is_accepted)


@cache
def _documents(name: str) -> dict[str, Document]:
    return {document.id: document for document in QuestionSet.load(data_folder() / name).documents}


def shares(found: list[Judged]) -> tuple[float, float]:
    """The share of the true ones that were accepted, and of the false ones that were caught."""
    accepted = [one.is_accepted for one in found if one.is_true]
    caught = [not one.is_accepted for one in found if not one.is_true]
    return sum(accepted) / len(accepted), sum(caught) / len(caught)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("group", FLOORS)
def test_true_statements_are_accepted_and_false_ones_caught(group: str) -> None:
    found = [one for one in judged() if (one.is_foreign if group == "across" else one.language == group)]
    accepted, caught = shares(found)
    print(f"\n{group}: {len(found)} statements, true ones accepted {accepted:.3f}, false ones caught {caught:.3f}")
    right = Counter((one.is_true, one.kind) for one in found if one.is_accepted is one.is_true)
    for (is_true, kind), count in sorted(Counter((one.is_true, one.kind) for one in found).items()):
        print(f"  {'true' if is_true else 'false'} {kind:12} {right[is_true, kind]:3} of {count:3}")
    least_accepted, least_caught = FLOORS[group]
    assert accepted >= least_accepted
    assert caught >= least_caught
