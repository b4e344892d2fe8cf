"""A text that stands in many places is shown once, with the number of the others, in three languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run_here, run_in_terminal

import answerable
from answerable.datatypes import Answer, Citation, Location, Reason
from answerable.integrations import described
from answerable.interfaces.cli.remarks import other_places
from answerable.interfaces.cli.render import print_answer
from answerable.interfaces.mcp.results import answer_text, passages_text

BOAT = (
    "The boat Alborada leaves the harbour at nine on Sundays and comes back at six in the evening. On other days it "
    "stays at the pier, where visitors may walk on deck, take pictures, and buy tickets for the next Sunday from him."
)
QUESTION = "When does the Alborada leave?"
COPIES = 4


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of a sentence in several files, and another sentence."""
    folder = tmp_path_factory.mktemp("places")
    for number in range(COPIES):
        (folder / f"boat{number}.txt").write_text(BOAT, "utf-8")
    (folder / "gate.txt").write_text("The gate of the harbour is painted blue every spring.", "utf-8")
    with answerable.open(folder / "library") as opened:
        for path in sorted(folder.glob("*.txt")):
            opened.add(path)
    return folder / "library"


def test_commands_say_in_how_many_other_places(library: Path) -> None:
    asked = run_here("ask", QUESTION, "--library", library).stdout
    assert "[1] boat0.txt, line 1, and in 3 other places" in asked
    searched = run_here("search", QUESTION, "--library", library).stdout
    assert "1. boat0.txt, line 1, and in 3 other places" in searched
    assert "gate.txt, line 1  0" in searched
    assert searched.count("leaves the harbour") == 1
    filtered = run_here("search", QUESTION, "--library", library, "--source", "boat2.txt").stdout
    assert "1. boat2.txt, line 1  " in filtered
    status, shown = run_in_terminal("ask", QUESTION, "--library", library)
    assert (status, "and in 3 other places" in shown) == (0, True)


def test_programs_get_the_number(library: Path) -> None:
    found = json.loads(run_here("search", QUESTION, "--library", library, "--json").stdout)["results"]
    assert [each["other_places"] for each in found] == [COPIES - 1, 0]
    assert found[0]["content"] == BOAT
    cited = json.loads(run_here("ask", QUESTION, "--library", library, "--json").stdout)["citations"]
    assert [(each["quote"] in BOAT, each["other_places"]) for each in cited] == [(True, COPIES - 1)]
    with answerable.open(library) as opened:
        first = opened.search(QUESTION)[0]
        answer = opened.ask(QUESTION)
    assert first.other_places == answer.citations[0].other_places == COPIES - 1
    assert described(first)["other_places"] == COPIES - 1
    assert "(and in 3 other places)" in passages_text([first])
    assert "(and in 3 other places)" in answer_text(answer)


def test_the_places_are_shown(library: Path) -> None:
    shown = run_here("places", "leaves the  HARBOUR at nine", "--library", library).stdout.splitlines()
    assert [line for line in shown if not line.startswith(" ")] == [
        f"{n + 1}. boat{n}.txt, line 1" for n in range(COPIES)
    ]
    one = run_here("places", "leaves the harbour", "--library", library, "--source", "boat2.txt", "--json").stdout
    (place,) = json.loads(one)["places"]
    assert (place["quote"], BOAT[place["start"] : place["end"]]) == ("leaves the harbour",) * 2
    assert (
        run_here("places", "leaves the airport", "--library", library).stdout
        == "nothing found: no passage has exactly these words\n"
    )


@pytest.mark.parametrize(
    ("language", "one", "many"),
    [
        ("en", "and in 1 other place", "and in 11,999 other places"),
        ("es", "y en otro lugar", "y en otros 11,999 lugares"),
        ("pt", "e em outro lugar", "e em outros 11,999 lugares"),
        ("de", "and in 1 other place", "and in 11,999 other places"),
    ],
)
def test_it_is_said_in_the_language_of_the_answer(
    capsys: pytest.CaptureFixture[str], language: str, one: str, many: str
) -> None:
    assert [other_places(count, language) for count in (0, 1, 11_999)] == ["", one, many]
    quote = Citation(BOAT, "boat", "/boat.txt", "", 0, len(BOAT), Location((1, 1)), "", other_places=11_999)
    answer = Answer(QUESTION, f"{BOAT} [1]", True, Reason.ANSWERED, language, 1.0, (quote,))
    print_answer(answer, as_json=False)
    assert many in " ".join(capsys.readouterr().out.split())
