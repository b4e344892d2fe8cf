"""Two questions in one message are answered apart; the one that isn't answered is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import answerable
from answerable.answering.messages import two_questions
from answerable.datatypes import Reason


@pytest.mark.parametrize(
    ("message", "both"),
    [
        ("Who is the treasurer and when was she elected?", ("Who is the treasurer", "when was she elected?")),
        ("¿Quién abre, y a qué hora?", ("¿Quién abre", "a qué hora?")),
        ("Quanto custa a quota e quem a recebe?", ("Quanto custa a quota", "quem a recebe?")),
        ("What is the deposit? Who holds it?", ("What is the deposit?", "Who holds it?")),
        ("how and where do I register?", None),
        ("what are the opening hours and the prices", None),
        ("Who came, and when, and where did they sit?", None),
        ("When is the rent due?", None),
    ],
)
def test_messages_with_two_questions(message: str, both: tuple[str, str] | None) -> None:
    assert two_questions(message) == both


def test_both_are_answered_and_what_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "club.md").write_text(
        "# Chess club\n\nThe treasurer is Nadia Okafor.\n\nThe yearly fee is 40 euros.\n\nThe club meets on Fridays.\n",
        "utf-8",
    )
    with answerable.open(":memory:") as library:
        library.add(tmp_path)
        answer = library.ask("Who is the treasurer and how much is the yearly fee?")
        assert (answer.verdict, answer.reason) == ("answered", Reason.ANSWERED)
        assert answer.text.splitlines()[1:] == [
            "“The treasurer is Nadia Okafor.” [1]",
            "“The yearly fee is 40 euros.” [2]",
        ]
        content = library.document(answer.citations[0].document_id).content
        assert [content[each.start : each.end] for each in answer.citations] == [
            "The treasurer is Nadia Okafor.",
            "The yearly fee is 40 euros.",
        ]
        partly = library.ask("Who is the treasurer and what is the capital of Mongolia?")
        assert partly.reason is Reason.PARTLY
        assert partly.text.splitlines()[-1] == "“what is the capital of Mongolia?”: The documents don't say."
