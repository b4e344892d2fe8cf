"""What a question may cost, whatever its shape: CPU time, a hundredth of it on an idle computer."""

from __future__ import annotations

import time
from datetime import date, datetime
from pathlib import Path

import pytest
from helpers import HashEmbedder

import answerable
from answerable import Library
from answerable.answering.ask import ask, last_of
from answerable.answering.reading import PASSAGES
from answerable.computing import computing
from answerable.computing.source import Source
from answerable.computing.table_text import table_text
from answerable.retrieval.times import asked_when, fold_in_place
from answerable.sharing import Stopped, Work
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
    club.ask("how many members are there?")
    assert seconds(lambda: club.ask(question[:4000])) < MOST


@pytest.mark.parametrize("columns", [10, 100, 1000])
def test_many_columns(columns: int) -> None:
    row = ",".join(f"{number} kg" for number in range(columns))
    header = ",".join(f"weight {number}" for number in range(columns))
    document = read_records(f"{header}\n" + f"{row}\n" * 30, "weights.csv")
    (table,) = find_tables(document)
    source, question = Source(document, table), "what is the total of weight 7? " * 120
    assert seconds(lambda: table_text(question, source)) < MOST


@pytest.mark.parametrize("time", ["monday ", "el lunes ", "in march and ", "segunda ", "5 may 2024, ", "the the in "])
def test_many_times_in_a_question(time: str) -> None:
    folded = fold_in_place(f"how many rows have amount {time * 1000}"[:4000])
    days = date(2000, 1, 1), date(2024, 1, 1)
    assert seconds(lambda: asked_when(folded, NOW, days, "en", is_past=True)) < MOST


def test_computing_ends_where_nobody_waits(club: Library) -> None:
    work = Work()
    work.stop()
    with pytest.raises(Stopped):
        last_of(ask("how many members are there?", [], None, club._parts(), work=work))


def test_only_tables_near_a_question_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        rows = "".join(f"| bolt {row} | {row} |\n" for row in range(3))
        (tmp_path / f"{number}.md").write_text(f"# Shed {number}\n\n| Part | Price |\n|---|---|\n{rows}")
    (tmp_path / "pond.txt").write_text("The pond behind the mill is two metres deep.")
    looked_at = []
    monkeypatch.setattr(computing, "find_tables", lambda document: looked_at.append(document.source) or [])
    with answerable.open(":memory:", embedder=HashEmbedder()) as library:
        library.add(tmp_path)
        answer = library.ask("How deep is the pond behind the mill?")
    assert answer.answered
    assert 0 < len(looked_at) <= PASSAGES
