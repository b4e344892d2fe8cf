"""Test `Answer.why`: a step for each decision, with the deciding values and their thresholds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from helpers import HashEmbedder
from scripted_model import ScriptedModel

import answerable
from answerable import Library
from answerable.datatypes import Answer, Document, Reason, Step
from answerable.errors import ProviderOverloaded

POND = "The pond behind the mill is two metres deep. Its owner is Ana. The mill is old."
PRICES = "Item,Price\nTrout,12\nCarp,8\nPike,20\n"


@pytest.fixture
def library() -> Iterator[Library]:
    with answerable.open(":memory:", embedder=HashEmbedder(), reader="off") as opened:
        opened.add_documents([Document.from_text(POND, source="/notes/pond.txt", language="en")])
        yield opened


def steps(answer: Answer) -> dict[str, Step]:
    """The last step of each name. All of them are JSON."""
    json.dumps([asdict(each) for each in answer.why])
    return {each.name: each for each in answer.why}


def test_a_refusal_names_the_nearest_passage_its_score_and_the_threshold(library: Library) -> None:
    answer = library.ask("Who won the football world cup in 1998?")
    assert not answer.answered
    decided = steps(answer)["decide"]
    assert decided.chose["by"] == "refusal"
    assert decided.chose["nearest"] == "pond.txt, line 1"
    assert str(decided.chose["text"]) in POND
    assert decided.chose["missing words"] == "won, football, world, cup, 1998"
    assert float(decided.values["confidence"]) < float(decided.values["threshold"])
    assert decided.values["score"] == pytest.approx(answer.results[0].score, abs=1e-4)


def test_places_are_in_the_language_of_the_question(library: Library) -> None:
    library.add_documents([Document.from_text("x\ny\n" * 9, source="/notes/long.txt", language="en")])
    found = steps(library.ask("¿Quién ganó el mundial de fútbol de 1998?"))
    places = {found["search"].chose["best"], found["read"].chose["place"], found["decide"].chose["nearest"]}
    assert places <= {"pond.txt, línea 1", "long.txt, líneas 1-18"}


def test_small_talk_is_not_weighed(library: Library) -> None:
    answer = library.ask("gracias")
    assert answer.reason is Reason.SMALL_TALK
    assert "confidence" not in steps(answer)["decide"].values


def test_quotes_name_the_best_sentence_the_gate_and_what_is_left_out(library: Library) -> None:
    answer = library.ask("How deep is the pond behind the mill?")
    assert answer.answered
    found = steps(answer)
    assert list(found) == ["understand", "search", "figures", "read", "decide", "quote", "verify"]
    assert found["understand"].chose["question"] == "How deep is the pond behind the mill?"
    assert found["search"].chose == {"passages": 1, "best": "pond.txt, line 1"}
    assert {"score", "rank by meaning", "rank by words"} <= set(found["search"].values)
    assert found["read"].chose["best"] == "The pond behind the mill is two metres deep."
    assert "missing words" not in found["read"].chose
    assert float(found["read"].values["support"]) > float(found["read"].values["support of the next"])
    assert float(found["decide"].values["confidence"]) >= float(found["decide"].values["threshold"])
    assert found["quote"].chose["quotes"] == len(answer.citations)
    assert "margin" in found["quote"].values


def test_an_answer_names_the_words_that_its_passage_lacks(library: Library) -> None:
    answer = library.ask("How deep is the famous pond behind the mill?")
    assert answer.answered
    assert steps(answer)["read"].chose["missing words"] == "famous"


def test_a_figure_names_its_plan(library: Library, tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text(PRICES)
    with answerable.open(":memory:", embedder=HashEmbedder()) as reading:
        reading.add(tmp_path / "prices.csv")
        found = steps(reading.ask("What is the total price?"))
    assert re.fullmatch(
        r"sum of Price; table: prices\.csv, prices; rows: all \(3 rows\), sure by (0\.9\d|1\.00)",
        str(found["figures"].chose["plan"]),
    )
    assert found["decide"].chose["by"] == "figures"
    assert "read" not in found
    assert steps(library.ask("Why is the mill old?"))["figures"].chose["none"] == "no model reads tables"


def test_a_model_is_named_with_the_checks_of_its_sentences() -> None:
    said = "The pond behind the mill is two metres deep [1]. It has 9 fish [1]."
    model = ScriptedModel(["no plan"], [said], ["[]"], [ProviderOverloaded("Busy.")])
    with answerable.open(":memory:", embedder=HashEmbedder(), model=model, reader="off") as library:
        library.add_documents([Document.from_text(POND, source="/notes/pond.txt", language="en")])
        written, failed = (steps(library.ask("How deep is the pond behind the mill?")) for _ in range(2))
    assert written["write"].given == {"model": "test:scripted", "passages": 1}
    assert written["verify"].chose == {"check": 1, "unsupported": 1, "reason": "answered"}
    assert failed["write"].chose["problem"] == "Busy."
    assert failed["quote"].chose["quotes"] == 1


def test_an_answerer_of_ones_own_writes_from_passages_and_is_checked() -> None:
    class Loud:
        name = "loud:1"

        def write(self, question: str, passages: object, history: object) -> Iterator[str]:
            yield f"{passages[0].chunk.content.partition('.')[0]} [1]."  # type: ignore[index]
            yield " It is full of gold."

        def close(self) -> None:
            pass

    with answerable.open(":memory:", embedder=HashEmbedder(), model=Loud(), reader="off") as library:
        library.add_documents([Document.from_text(POND, source="/notes/pond.txt", language="en")])
        answer = library.ask("How deep is the pond behind the mill?")
    assert (answer.model, answer.answered) == ("loud:1", True)
    assert answer.text == "The pond behind the mill is two metres deep [1]. It is full of gold."
    assert [check.support for check in answer.checks] == ["check", "unsupported"]


def test_a_filter_that_finds_nothing_leaves_its_steps(tmp_path: Path) -> None:
    chat = "3/5/24, 21:15 - Ana: The pond is two metres deep\n3/5/24, 21:16 - Luis: Good to know\n"
    (tmp_path / "WhatsApp Chat with Ana.txt").write_text(chat)
    (tmp_path / "oven.md").write_text("The oven reaches 250 degrees.\n")
    with answerable.open(":memory:", embedder=HashEmbedder(), reader="off") as library:
        library.add(tmp_path)
        why = library.ask("What did Luis say about the oven?").why
    searches = [each for each in why if each.name == "search"]
    assert [each.given.get("filter") for each in searches] == ["Luis", None]
    assert [each.name for each in why].count("figures") == 1
