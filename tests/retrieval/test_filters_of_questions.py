"""Test what a person or a time in a question excludes from the search, and when this filter ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pytest

import answerable
from answerable import Library
from answerable.datatypes import Answer, DocumentType, Exchange
from answerable.filters import matches, normalize_fields, parse_filter
from answerable.retrieval.narrowing import narrow
from answerable.sources.markdown import read_markdown
from answerable.sources.whatsapp.read import read_chat

CHAT = """12/01/2026, 09:00 - Ana: The plumber comes on Thursday, he costs 80 euros
13/01/2026, 09:10 - Ben: ok
05/02/2026, 10:00 - Ana: The party is on Saturday at my place
06/02/2026, 11:00 - Ben: I bring the cake
12/05/2025, 11:00 - Ben: We painted the kitchen in green"""
EXPENSES = "date,item,amount\n2025-03-01,roof repair,900\n2026-02-01,new boiler,2100\n2026-03-05,paint,45\n"
LEASE = "# Lease\n\nThe rent is 800 euros in 2025 and 850 euros in 2026. The lease ends on 30 June 2027.\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    sheet = tmp_path_factory.mktemp("home") / "expenses.csv"
    sheet.write_text(EXPENSES, "utf-8")
    with answerable.open(":memory:") as made:
        made.now = lambda: datetime(2026, 11, 1)
        made.add_documents(
            [
                read_chat(CHAT, "WhatsApp Chat with Home.txt"),
                read_markdown(LEASE, "lease.md"),
            ]
        )
        made.add(sheet)
        yield made


def ask(library: Library, *questions: str) -> Answer:
    """The answer to the last of these questions."""
    history: list[Exchange] = []
    for question in questions:
        answer = library.ask(question, history=history)
        history.append(Exchange(question, answer.question, answer.text))
    return answer


def test_a_time_alone_leaves_out_no_document_without_such_dates() -> None:
    found = narrow(
        "What did we buy in 2026?",
        "en",
        ["Ana"],
        (datetime(2025, 1, 1).date(), datetime(2026, 2, 6).date()),
        datetime(2026, 11, 1),
    )
    assert found is not None
    where = parse_filter(replace(found, is_open=True).where)
    sheet = {"type": DocumentType.SPREADSHEET}
    of_2025, of_2026 = ({"type": DocumentType.CHAT, "date": datetime(year, 5, 1)} for year in (2025, 2026))
    assert [matches(where, normalize_fields(each)) for each in (sheet, of_2025, of_2026)] == [True, False, True]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much did the boiler cost in 2026?", "2100"),
        ("What is the rent in 2026?", "850 euros in 2026"),
        pytest.param(
            "What happened in January 2026?",
            "The plumber comes",
            marks=pytest.mark.xfail(strict=True, reason="the reader doesn't take what happened for an answer"),
        ),
        ("What did Ana say in January 2026?", "The plumber comes"),
    ],
)
def test_tables_and_messages_of_a_time_are_searched(home: Library, question: str, expected: str) -> None:
    answer = ask(home, question)
    assert expected in answer.text
    assert "2025-05-12" not in answer.text


def test_a_filter_of_one_question_is_not_that_of_the_next(home: Library) -> None:
    named = "What did Ana say in January 2026?"
    for question in ("How much does it cost?", "What about the rent?", "When does the lease end?"):
        assert ask(home, named, question).narrowing is None, question
    assert "30 June 2027" in ask(home, named, "What about the rent?", "When does the lease end?").text


def test_a_follow_up_that_only_names_another_thing_keeps_it_and_shows_it(home: Library) -> None:
    for question in ("And Ben?", "And in February 2026?"):
        kept = ask(home, "What did Ana say in January 2026?", question).narrowing
        assert kept is not None, question
        assert kept.periods, question
