"""Questions on tables by strangers to the program; see `docs/counting.md`.

`tables/blind.jsonl` was asked once before this test was written. `tables/variants/` has variants of the kinds of files
that were computed wrongly once, a folder for each.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from helpers import is_figure
from training.table_plans import NOW, load, plan_of, say_the_same

import answerable
from answerable.computing.computing import SURE
from answerable.computing.parse import parse
from answerable.computing.plan import words_of
from answerable.computing.table_text import table_text
from answerable.datatypes import Exchange
from answerable.e5.readers import E5TableReader

from .harness import CACHE

ASKED = Path(__file__).with_name("tables") / "blind.jsonl"
VARIANTS = ASKED.with_name("variants")


RIGHT, WRONG, NEAR = 54, 3, 4
"""Of 240 answerable questions, right and wrong figures; of 90 near misses, figures. When first asked: 56, 3, 4."""


@pytest.mark.quality
def test_figures_are_stated_only_if_they_are_right() -> None:
    reader = E5TableReader(threads=1, cache_folder=CACHE / "models")
    counts = Counter[str]()
    for each in load([ASKED]):
        right, text = plan_of(each), table_text(each.text, each.source)
        (reading,) = reader.read(each.text, [text.text])
        likely = parse(each.text, each.language, each.source, text, reading, NOW, most=1)
        counts["answerable" if right else "near misses"] += 1
        if likely and likely[0].confidence >= SURE:
            is_right = say_the_same(likely[0].plan, right)
            counts["right" if is_right else "wrong" if right else "stated near misses"] += 1
            if not is_right:
                print(f"{likely[0].confidence:.3f} {each.text!r} {words_of(likely[0].plan)!r}")
    print(dict(counts))
    assert counts["right"] >= RIGHT
    assert counts["wrong"] <= WRONG
    assert counts["stated near misses"] <= NEAR


STATED = 28
"""Of the 144 questions on variants, at least this many have a figure: 33 when the test was written."""


@pytest.mark.quality
def test_figures_of_what_was_computed_wrongly_are_right_or_not_stated() -> None:
    stated, wrong = 0, []
    for folder in sorted(VARIANTS.iterdir()):
        history: list[Exchange] = []
        with answerable.open(":memory:", cache_folder=str(CACHE)) as library:
            for path in folder.iterdir():
                if path.name != "cases.jsonl":
                    library.add(path)
            for case in map(json.loads, (folder / "cases.jsonl").read_text("utf-8").splitlines()):
                history = history if case.get("follows") else []
                answer = library.ask(case["q"], history=history)
                history.append(Exchange(case["q"], answer.question, answer.text))
                if is_figure(answer):
                    stated += 1
                    # Below the figure stands its row, with all cells.
                    first = answer.text.partition("\n")[0]
                    is_first = all(_has(first, each) for each in case["right"])
                    is_right = case["right"] and all(_has(answer.text, each) for each in case["right"])
                    if not is_right or (not is_first and any(_has(answer.text, each) for each in case["wrong"])):
                        wrong.append((folder.name, case["q"], answer.text))
    print(f"{stated} stated")
    assert wrong == []
    assert stated >= STATED


def _has(text: str, part: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None
