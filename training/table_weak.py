"""Plans for questions with only answers: of a trained table reader's likeliest plans, the first that gives the answer.

    python -m training.table_weak WIKITABLEQUESTIONS_FOLDER tables.npz plans.jsonl

WikiTableQuestions (Pasupat & Liang 2015, arXiv:1508.00305) has questions, tables and answers. Small counts come right
by chance, so a plan that counts must be among the first `SURE_COUNTS`. A line is a question, its table and the choices.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import torch

from answerable.computing.parse import Choices, Parsed, parse
from answerable.computing.plan import AGGREGATES, Plan
from answerable.e5.encoder import tokenizer_of
from answerable.e5.weights import ModelFile, ReaderWeights, model_path
from answerable.protocols import TableReading
from answerable.tables.compute import compute
from answerable.tables.values import read_value
from answerable.text.terms import fold
from training.model import padded
from training.table_model import Example, TableNet, example
from training.table_plans import NOW, Question
from training.table_wiki import wiki_questions

LIKELY, SURE_COUNTS = 24, 4
FROZEN = 6


def answers_of(plan: Plan) -> list[set[str]]:
    """Return what may be taken for the plan's answer, each a set of texts in lower case without accents."""
    cells, rows, operation = plan.source.table.rows, plan.rows, plan.operation
    if not rows:
        return []
    if operation == "difference":
        sides = next(each.sides for each in plan.conditions if each.sides)
        sums = [
            compute(
                plan.source.table, sorted(side), AGGREGATES["sum" if plan.column >= 0 else "count"], plan.column
            ).figures
            for side in sides
        ]
        return [{_number(abs(sum(sums[0].values()) - sum(sums[1].values())))}]
    if plan.group >= 0:
        if not plan.limit:
            return []
        aggregate = AGGREGATES["count" if operation == "lookup" else operation]
        groups = compute(plan.source.table, rows, aggregate, plan.column, plan.group, plan.period).groups
        kept = groups[::-1] if plan.is_least else groups
        return [{_key(each.name) for each in kept[: plan.limit]}]
    if operation == "count":
        return [{_number(len(rows))}]
    if operation == "lookup":
        return [{_key(cells[row].values[plan.column].text) for row in rows}]
    if operation == "list":
        return [{_key(cells[row].values[column].text) for row in rows} for column in range(len(cells[0].values))]
    found = compute(plan.source.table, rows, AGGREGATES[operation], plan.column, limit=plan.limit)
    if operation in ("most", "least"):
        return [{_key(cells[row].values[at].text) for row in found.rows} for at in range(len(cells[0].values))]
    return [{_number(sum(found.figures.values()))}] if found.figures else []


def _key(text: str) -> str:
    number = read_value(text).number
    return " ".join(fold(text.lower()).split()) if number is None else _number(number)


def _number(number: float) -> str:
    return f"{number:.6g}"


def gives(likely: list[Parsed], answers: list[str]) -> Choices | None:
    """Return the choices of the first plan that gives the answers."""
    wanted = {_key(each) for each in answers}
    for rank, each in enumerate(likely):
        is_count = each.plan.operation in ("count", "distinct")
        if wanted in answers_of(each.plan) and (rank < SURE_COUNTS or not is_count):
            return each.choices
    return None


def main() -> None:
    folder, weights, out = map(Path, sys.argv[1:4])
    model = ModelFile(model_path())
    tokenizer, net = tokenizer_of(model), TableNet(model, FROZEN)
    net.load(ReaderWeights(weights))
    net.eval()
    waiting: list[tuple[Example, str, list[str]]] = []
    seen = kept = 0
    with out.open("w") as file:
        for text, name, answers, source in wiki_questions(folder):
            waiting.append((example(Question(text, "en", source, None), model, tokenizer), name, answers))
            if len(waiting) < 64:
                continue
            waiting.sort(key=lambda each: len(each[0].ids))
            ids, present = padded([one.ids for one, *_ in waiting], model.pad)
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
                whole, tokens = net(net.lower(ids, present), present)
            for row, (one, own, wanted) in enumerate(waiting):
                of_text = tokens[row, one.offset : one.offset + len(one.starts)].float().numpy()
                reading = TableReading(whole[row].float().numpy(), one.starts, of_text)
                question = one.question
                likely = parse(question.text, "en", question.source, one.read, reading, NOW, LIKELY)
                if choices := gives(likely, wanted):
                    kept += 1
                    file.write(json.dumps({"q": question.text, "table": own, "choices": asdict(choices)}) + "\n")
            seen += len(waiting)
            waiting = []
            print(f"{seen} questions, {kept} with a plan", flush=True)


if __name__ == "__main__":
    main()
