"""Windows of questions by people: judged passages, and dialogues as chats."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from training.natural import KEPT, dialogues, judged
from training.windows import mined

BREAD = "Brot: Brot wird aus Mehl und Wasser gebacken. Es geht in der Wärme."
OTHERS = ["Milch: Milch ist weiß.", "Salz: Salz kommt aus dem Meer.", "Käse: Käse reift im Keller."]


def packed(path: Path, value: Any) -> None:
    path.write_bytes(gzip.compress(value.encode()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    asked = {"question": "Woraus wird Brot gebacken?", "answerable": True, "passages": [BREAD, *OTHERS]}
    unanswered = {"question": "Wer erfand die Butter?", "answerable": False, "passages": OTHERS}
    packed(tmp_path / "nomiracl-de.jsonl.gz", f"{json.dumps(asked)}\n{json.dumps(unanswered)}\n")
    packed(tmp_path / "nomiracl-fr.jsonl.gz", "")
    with gzip.open(tmp_path / "quati-240.tsv.gz", "wt", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, ("query", "passage", "score"), delimiter="\t", quoting=csv.QUOTE_NONE)
        rows.writeheader()
        rows.writerow({"query": "De que é feito o pão?", "passage": "O pão é feito de farinha e água.", "score": "3"})
        rows.writerow({"query": "De que é feito o pão?", "passage": "O pão custa um euro.", "score": "0"})
        rows.writerow({"query": "De que é feito o pão?", "passage": "O pão é velho como o mundo.", "score": "1"})
    said = [{"speakers": ["Ross"], "utterance": "His name is Ben ."}, {"speakers": [], "utterance": "Hello !"}]
    answer = {"question": "What is his name ?", "answers": [{"utterance_id": 0}]}
    scene = {"title": "scene", "paragraphs": [{"utterances:": said, "qas": [answer]}]}
    packed(tmp_path / "friendsqa-dev.json.gz", json.dumps({"data": [scene] * (KEPT + 1)}))
    edus = [{"speaker": "ann", "text": "which disk ?"}, {"speaker": "bob", "text": "the second one"}]
    qas = [
        {"question": "Which disk is meant ?", "answers": [{"answer_start": len("ann: which disk ? bob: ")}]},
        {"question": "Which screen is meant ?", "answers": []},
    ]
    packed(tmp_path / "molweni.jsonl.gz", json.dumps({"edus": edus, "qas": qas}) + "\n")
    return tmp_path


def test_the_window_that_answers_comes_first_and_unjudged_passages_are_left_out(folder: Path) -> None:
    bread, butter, pao = judged(folder)
    assert (bread["kind"], butter["kind"], pao["kind"]) == ("answered", "near", "answered")
    assert "Mehl und Wasser" in bread["windows"][0]
    assert bread["answer"] == [0, 0, len(bread["windows"][0])]
    # Of an answerable question, the second half of the passages is taken as not answering it.
    assert not any("Milch" in window for window in bread["windows"])
    assert butter["answer"] is None
    assert len(butter["windows"]) == len(OTHERS)
    assert pao["windows"] == ["O pão é feito de farinha e água.", "O pão custa um euro."]


def test_dialogues_are_chats_whose_messages_answer(folder: Path) -> None:
    (first, friends), (second, channel) = dialogues(folder)
    assert (first, second) == ("friendsqa", "molweni")
    assert friends["text"] == "[12/03/24, 09:05] Ross: His name is Ben .\n[12/03/24, 09:06] All: Hello !"
    assert [each.get("quote") for each in channel["questions"]] == ["the second one", ""]
    answered, near = mined([channel])
    number, start, end = answered["answer"]
    assert answered["windows"][number][start:end] == "the second one"
    assert near["answer"] is None
