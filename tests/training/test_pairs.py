"""Statements that were written one by one: how sets are read, held out and drawn."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest
from training.corpus import Pair
from training.pair_draws import PairDraws
from training.pairs import beginning, load_pairs
from training.public_sets import SETS, assin, counterfactual, fever, inferes, read_public, snli


def pair(statement: str, passage: str, is_true: bool, source: str = "written") -> Pair:
    return Pair({"en": [statement]}, {"en": passage}, is_true, "close", source)


def test_passages_are_cut_after_a_sentence() -> None:
    text = "The fair opens at nine.  It closes at five. Nobody is paid."
    assert beginning(text, 45) == "The fair opens at nine. It closes at five."
    assert beginning(text, 100) == "The fair opens at nine. It closes at five. Nobody is paid."
    assert beginning("No stop in sight", 5) == "No stop in sight"


def test_all_statements_on_a_passage_are_held_out_together(tmp_path: Path) -> None:
    pairs = [pair(f"Statement {number}.", f"Passage {number // 2}.", number % 2 == 0) for number in range(400)]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in pairs), "utf-8")
    trained, held = load_pairs(path)
    assert len(trained) + len(held) == 400
    assert 4 <= len(held) <= 50
    assert {each.passages["en"] for each in trained}.isdisjoint(each.passages["en"] for each in held)


def test_true_and_false_statements_of_a_set_are_drawn_alike() -> None:
    pairs = [pair(f"True {number}.", f"A passage {number}.", True) for number in range(10)]
    pairs += [pair(f"False {number}.", f"Another passage {number}.", False) for number in range(90)]
    draws, draw = PairDraws(pairs), random.Random(1)
    drawn = [draws.draw(draw) for _ in range(2000)]
    labels = Counter((each.is_true, each.kind.endswith("unrelated")) for each in drawn)
    assert 0.42 < labels[True, False] / 2000 < 0.52
    assert 0.02 < labels[False, True] / 2000 < 0.12
    assert labels[True, True] == 0


def test_an_unrelated_passage_is_another_one() -> None:
    draws = PairDraws([pair("One.", "The only passage.", True), pair("Two.", "The only passage.", False)])
    draw = random.Random(2)
    assert {draws.draw(draw).kind for _ in range(300)} == {"written close"}


def read(made: str, folder: Path, name: str, text: str) -> list[Pair]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    readers = {each.__name__: each for each in (assin, counterfactual, fever, inferes, snli)}
    return list(readers[made](folder))


def test_sets_are_read_in_natural_spelling(tmp_path: Path) -> None:
    for part in ("dev", "test"):
        for name, text in (("s1", "A dog runs .\n"), ("s2", "An animal moves .\n"), ("labels", "entailment\n")):
            path = tmp_path / "dataset" / "eSNLI" / f"{name}.{part}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    (first, _) = snli(tmp_path)
    assert first == Pair({"en": ["An animal moves."]}, {"en": "A dog runs."}, True, "entailment", "snli")


def test_claims_that_their_passage_may_support_after_all_are_left_out(tmp_path: Path) -> None:
    lines = (
        "entailment\tKellogg's. Kellogg's makes cereals .\tKellogg 's makes cereals .\n"
        "not_entailment\tKellogg's. Kellogg's makes cereals .\tKellogg 's makes cereals .\n"
        "not_entailment\tKellogg's. Kellogg's makes cereals .\tKellogg 's makes cars .\n"
    )
    folder = tmp_path / "Data" / "binary-FEVER-NLI"
    folder.mkdir(parents=True)
    (folder / "test.txt").write_text("", "utf-8")
    found = read("fever", tmp_path, "Data/binary-FEVER-NLI/dev.txt", lines)
    assert [(each.statements["en"][0], each.is_true) for each in found] == [
        ("Kellogg's makes cereals.", True),
        ("Kellogg's makes cars.", False),
    ]


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=SETS[0].origin):
        list(read_public(tmp_path))
