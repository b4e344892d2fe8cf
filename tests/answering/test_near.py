"""What is near an answer but isn't one: another person's row, another year's price."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import answerable
from answerable import Library
from answerable.datatypes import Answer, Reason

HEALTH = """# Health

Elena's blood type is 0 negative. She is allergic to penicillin.

In 2024 the annual fee was 40 euros for each member, and in 2025 it was 45 euros.
"""
SALUD = """# Salud

La tarjeta sanitaria de Marta caduca en mayo. El número de la tarjeta de Lucas es 4471 y caduca en junio.
"""


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder: Path = tmp_path_factory.mktemp("papers")
    (folder / "health.md").write_text(HEALTH, "utf-8")
    (folder / "salud.md").write_text(SALUD, "utf-8")
    with answerable.open(":memory:") as library:
        library.add(folder)
        yield library


def differs(answer: Answer) -> str:
    (decided,) = (step for step in answer.why if step.name == "decide")
    return str(decided.chose.get("differs", ""))


def test_another_person_is_near(papers: Library) -> None:
    answer = papers.ask("What is Tom's blood type?")
    assert (answer.verdict, answer.answered, answer.reason) == ("near", False, Reason.NEAR)
    first, quote, differing = answer.text.splitlines()
    assert first == "The documents don't say that. Nearest:"
    assert (quote, differing) == ("“Elena's blood type is 0 negative.” [1]", "It says “Elena”, not “Tom”.")
    (citation,) = answer.citations
    assert papers.document(citation.document_id).content[citation.start : citation.end] == citation.quote
    assert differs(answer) == "Tom: Elena"


def test_another_year_is_near(papers: Library) -> None:
    answer = papers.ask("how much was the annual fee in 2023?")
    assert answer.verdict == "near"
    assert answer.text.splitlines()[-1] == "It says “2024”, “2025”, not “2023”."


def test_the_frame_is_in_the_language_of_the_question(papers: Library) -> None:
    answer = papers.ask("¿Cuándo caduca la tarjeta sanitaria de Óscar?")
    assert answer.verdict == "near"
    first, *_, differing = answer.text.splitlines()
    assert first == "Los documentos no lo dicen. Lo más cercano:"
    assert differing.endswith("no “Óscar”.")


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What is Elena's blood type?", "0 negative"),
        ("how much was the annual fee in 2025?", "45 euros"),
        ("¿Cuándo caduca la tarjeta sanitaria de Marta?", "caduca en mayo"),
    ],
)
def test_the_person_or_year_asked_for_answers(papers: Library, question: str, quoted: str) -> None:
    answer = papers.ask(question)
    assert answer.verdict == "answered"
    assert quoted in answer.text


def test_what_is_not_there_is_not_found(papers: Library) -> None:
    answer = papers.ask("Which wood is best for a violin?")
    assert (answer.verdict, answer.citations) == ("not found", ())
