"""Questions on tables with their plans: what is read of a table, what the model should say, and what it then means."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from training.table_plans import Question, load, plan_of, say_the_same

from answerable.computing.parse import LIMITS, OPERATIONS, TOKEN, USES, WHOLE, parse, parts
from answerable.computing.plan import Plan
from answerable.computing.table_text import table_text
from answerable.errors import PlanError
from answerable.protocols import TableReading

WRITTEN = sorted((Path(__file__).parents[2] / "training" / "written" / "tables").glob("*.jsonl"))
TABLE = {
    "title": "Rooms",
    "language": "en",
    "csv": "Room,Price (€),Guests,State,Booked\n101,80,2,paid,2024-03-02\n102,95,3,not paid,2024-03-09\n"
    "103,70,2,,2024-04-01\n",
}

MANY = {"column": "Guests", "op": ">", "value": "2"}
UNPAID = {"column": "State", "op": "=", "value": "not paid"}
FULLEST = {"group": "Guests", "limit": 1}


def question(tmp_path: Path, text: str, plan: dict[str, Any] | None) -> Question:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({**TABLE, "questions": [{"q": text, "plan": plan}]}), "utf-8")
    (found,) = load([path])
    return found


def test_a_table_is_read_with_the_values_that_may_be_meant(tmp_path: Path) -> None:
    asked = question(tmp_path, "Which rooms aren't paid?", None)
    read = table_text(asked.text, asked.source)
    assert read.text.startswith("Rooms.csv without aren: Room (")
    assert [read.text[item.start :].split(" (")[0] for item in read.columns[1:3]] == ["Price", "Guests"]
    values = [(item.value, sorted(item.rows), item.is_whole) for item in read.values]
    assert values == [("paid", [0], True), ("paid", [0, 1], False), ("not paid", [1], True)]


def test_a_plan_gives_its_rows(tmp_path: Path) -> None:
    asked = question(
        tmp_path, "x", {"op": "sum", "column": "Price", "filters": [{"column": "Guests", "op": "=", "value": "2"}]}
    )
    plan = plan_of(asked)
    assert plan is not None
    assert (plan.operation, plan.column, plan.rows) == ("sum", 1, [0, 2])
    wrong = question(tmp_path, "x", {"op": "sum", "column": "Cost"})
    with pytest.raises(PlanError, match="no column 'Cost'"):
        plan_of(wrong)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({"op": "list", "filters": [MANY]}, {"op": "lookup", "column": "Room", "filters": [UNPAID]}, True),
        ({"op": "sum", "column": "Price"}, {"op": "average", "column": "Price"}, False),
        ({"op": "sum", "column": "Price"}, {"op": "sum", "column": "Guests"}, False),
        ({"op": "count"}, {"op": "count", "column": "Room"}, True),
        ({"op": "count"}, {"op": "count", "column": "State"}, False),
        ({"op": "count", **FULLEST}, {"op": "count", **FULLEST, "order": "least"}, False),
        ({"op": "most", "column": "Price"}, {"op": "most", "column": "Price", "limit": 1}, True),
        ({"op": "most", "column": "Price"}, None, False),
        (None, None, True),
    ],
)
def test_plans_that_give_the_same_answer(tmp_path: Path, one: Any, other: Any, is_same: bool) -> None:
    plans = [plan_of(question(tmp_path, "x", each)) for each in (one, other)]
    assert say_the_same(*plans) is is_same


def said(asked: Question, **chosen: Any) -> Plan | None:
    """What the model means if it is sure of this and of nothing else."""
    read = table_text(asked.text, asked.source)
    starts = np.array(sorted({item.start for item in (*read.columns, *read.values)}), np.int32)
    whole, tokens = np.zeros(sum(WHOLE.values()), np.float32), np.zeros((len(starts), sum(TOKEN.values())), np.float32)
    named, of_tokens = parts(whole, WHOLE), parts(tokens, TOKEN)
    named["operation"][[each.value for each in OPERATIONS].index(chosen["operation"])] = 20
    named["no"][:] = 10
    of_tokens["limit"][:, 0] = of_tokens["use"][:, 0] = 10
    at = {item.column: starts.tolist().index(item.start) for item in read.columns}
    if "column" in chosen:
        of_tokens["column"][at[chosen["column"]], 0] = 20
    for column, limit in chosen.get("limits", {}).items():
        of_tokens["limit"][at[column], LIMITS.index(limit)] = 20
    for item in read.values:
        if item.value in chosen.get("uses", {}):
            of_tokens["use"][starts.tolist().index(item.start), USES.index(chosen["uses"][item.value])] = 20
    found = parse(
        asked.text, asked.language, asked.source, read, TableReading(whole, starts, tokens), datetime(2024, 6, 1)
    )
    assert sum(each.confidence for each in found) <= 1
    # Plans with other conditions come after, if that which is said makes no plan.
    return found[0].plan if found and found[0].confidence > 0.9 else None


def test_what_the_model_says_is_a_plan(tmp_path: Path) -> None:
    asked = question(tmp_path, "How much do the rooms over 75 euros in March cost?", None)
    assert said(asked, operation="none") is None
    plan = said(asked, operation="sum", column=1, limits={1: ">", 4: "="})
    assert plan is not None
    assert (plan.operation, plan.column, plan.rows) == ("sum", 1, [0, 1])
    # A limit without a number, and a sum of texts, mean nothing.
    assert said(asked, operation="sum", column=1, limits={1: ">", 2: ">"}) is None
    # A number of the question that is in no condition, too.
    assert said(asked, operation="sum", column=1) is None
    asked = question(tmp_path, "How many rooms aren't settled?", None)
    unpaid = said(asked, operation="count", uses={"paid": "!="})
    assert unpaid is not None
    assert unpaid.rows == [1, 2]


@pytest.mark.parametrize("path", WRITTEN, ids=[path.stem for path in WRITTEN])
def test_nearly_all_written_plans_are_plans_of_their_tables(path: Path) -> None:
    wrong = 0
    questions = list(load([path]))
    for each in questions:
        try:
            plan_of(each)
        except PlanError:
            wrong += 1
    assert wrong <= 0.02 * len(questions)
