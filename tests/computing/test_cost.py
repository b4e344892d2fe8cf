"""What a question may cost, whatever its shape: CPU time, a hundredth of it on an idle computer."""

from __future__ import annotations

import time
from datetime import date, datetime

import pytest

from answerable import Library
from answerable.computing.asked import find_operation
from answerable.computing.computing import Computing
from answerable.computing.matching import Asking
from answerable.computing.planning import plan_for
from answerable.computing.source import Source
from answerable.retrieval.times import asked_when, fold_in_place
from answerable.sharing import Budget, OverBudget, Stopped, Work
from answerable.sources.records import read_records
from answerable.tables.find import find_tables

NOW = datetime(2024, 6, 1)
MOST = 2.0
"""Seconds of CPU time for a question of 4,000 characters."""


def seconds(work: object) -> float:
    """The CPU time of a call."""
    begun = time.thread_time()
    assert callable(work)
    work()
    return time.thread_time() - begun


@pytest.mark.parametrize(
    "question",
    [
        "How many rows have " + "Ana Luis Marta " * 400,
        "¿Cuál es el total de " + "Ana Luis Marta cemento pintura " * 400,
        "which expenses are more than " + "5 " * 2000,
        "total" + " " * 3900 + "5",
    ],
)
def test_a_long_question_of_a_small_table(club: Library, question: str) -> None:
    computing = Computing(club.store, lambda: NOW)
    computing.answer("how many rows?", "how many rows?", "en", [], None, Work())
    asked = question[:4000]
    assert seconds(lambda: computing.answer(asked, asked, "en", [], None, Work())) < MOST


@pytest.mark.parametrize("time", ["monday ", "el lunes ", "in march and ", "segunda ", "5 may 2024, ", "the the in "])
def test_many_times_in_a_question(time: str) -> None:
    folded = fold_in_place(f"how many rows have amount {time * 1000}"[:4000])
    days = date(2000, 1, 1), date(2024, 1, 1)
    assert seconds(lambda: asked_when(folded, NOW, days, "en", is_past=True)) < MOST


def test_computing_ends_where_its_time_is_used_up_or_nobody_waits(club: Library) -> None:
    document = read_records("Name,Fee\nAna,5\nBo,6\n", "fees.csv")
    (table,) = find_tables(document)
    folded = "total fee of ana"
    operation = find_operation(folded)
    assert operation is not None
    asking = Asking(folded, folded, "en", operation, NOW)
    assert plan_for(asking, Source(document, table), Budget(MOST, Work())) is not None
    with pytest.raises(OverBudget):
        plan_for(asking, Source(document, table), Budget(-1, Work()))
    work = Work()
    work.stop()
    with pytest.raises(Stopped):
        Computing(club.store, lambda: NOW).answer("how many rows?", "how many rows?", "en", [], None, work)
