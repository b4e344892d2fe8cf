"""Trains the table reader on `written/tables/`, from the reader's weights; writes `tables.npz` and the held figures.

    python -m training.table_train FOLDER [--held d] [--epochs 8] …

A fifth more questions are asked beside another table, and questions on texts beside a table: there is nothing to
compute for them.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import torch

from answerable.computing.parse import Choices, Parsed, parse
from answerable.datatypes import FloatArray
from answerable.e5.encoder import tokenizer_of
from answerable.e5.weights import ModelFile, ReaderWeights, model_path
from answerable.errors import PlanError
from answerable.protocols import TableReading
from training.fit import Fit
from training.model import padded
from training.table_model import Example, TableNet, example, loss_of, weak_example
from training.table_plans import NOW, Question, load, say_the_same
from training.table_wiki import is_held, wiki_questions
from training.weights import write_weights

NATURAL = Path(__file__).parents[2] / "shared" / "data" / "natural"
WRITTEN = Path(__file__).parent / "written"

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--held", default="", help="the file whose questions are only measured on")
    parser.add_argument("--begin", type=Path, help="a tables.npz to begin from")
    parser.add_argument("--natural", type=Path, default=NATURAL, help="the folder of WikiTableQuestions")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--frozen", type=int, default=6)
    parser.add_argument("--crossed", type=float, default=0.2)
    parser.add_argument("--plain", type=int, default=1000)
    parser.add_argument("--share", type=float, default=1.0, help="the share of the questions to train on")
    parser.add_argument("--weak", type=Path, help="plans of `training.table_weak` to train on as well")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    Run(given).run()


class Run:
    def __init__(self, given: argparse.Namespace) -> None:
        self._given, self._draw = given, random.Random(given.seed)
        torch.manual_seed(given.seed)
        self._model = ModelFile(model_path())
        self._tokenizer = tokenizer_of(self._model)
        self._net = TableNet(self._model, given.frozen)
        if given.begin:
            self._net.load(ReaderWeights(given.begin))
        files = sorted((WRITTEN / "tables").glob("*.jsonl"))
        trained = list(load(each for each in files if each.stem != given.held))
        trained = self._draw.sample(trained, int(len(trained) * given.share))
        self._written = len(trained)
        self._trained = self._examples([*trained, *self._of_other_tables(trained)])
        self._trained += self._weak(given.weak) if given.weak else []
        self._held = self._examples(load(each for each in files if each.stem == given.held))
        print(f"{self._written} questions, {len(self._trained)} examples, {len(self._held)} held", flush=True)

    def _of_other_tables(self, questions: Sequence[Question]) -> list[Question]:
        """Return questions beside a table that they don't ask for."""
        papers = sorted((WRITTEN / "papers").glob("*.jsonl"))
        plain = [
            (each["q"], each["language"])
            for path in papers
            for line in path.read_text("utf-8").splitlines()
            for each in json.loads(line)["questions"]
        ]
        asked = [
            (each.text, each.language)
            for each in self._draw.sample(questions, int(len(questions) * self._given.crossed))
        ]
        asked += self._draw.sample(plain, min(self._given.plain, len(plain)))
        texts = {(each.text, id(each.source)) for each in questions}
        found = [Question(text, language, self._draw.choice(questions).source, None) for text, language in asked]
        return [each for each in found if (each.text, id(each.source)) not in texts]

    def _weak(self, path: Path) -> list[Example]:
        """Return questions of WikiTableQuestions with plans that give their answers, without those of held tables."""
        plans: dict[tuple[str, str], Choices] = {}
        for line in path.read_text("utf-8").splitlines():
            each = json.loads(line)
            said = each["choices"]
            said |= {name: tuple(tuple(pair) for pair in said[name]) for name in ("limits", "uses")}
            plans[each["q"], each["table"]] = Choices(**said)
        folder = self._given.natural
        found = [
            weak_example(Question(text, "en", source, None), plans[text, name], self._model, self._tokenizer)
            for text, name, _, source in wiki_questions(folder)
            if (text, name) in plans and not is_held(name)
        ]
        return self._with_states([each for each in found if max(each.targets) <= len(each.columns)])

    def _examples(self, questions: Iterable[Question]) -> list[Example]:
        found = list[Example]()
        for question in questions:
            try:
                found.append(example(question, self._model, self._tokenizer))
            except PlanError as error:
                print(f"left out: {question.text}: {error}"[:200])
        return self._with_states(found)

    def _with_states(self, found: list[Example]) -> list[Example]:
        found.sort(key=lambda each: len(each.ids))
        for start in range(0, len(found), 32):
            group = found[start : start + 32]
            ids, present = padded([each.ids for each in group], self._model.pad)
            for one, state in zip(group, self._net.lower(ids, present), strict=True):
                one.state = state[: len(one.ids)].clone()
        return found

    def _likely(self, examples: Sequence[Example]) -> Iterator[tuple[Example, list[Parsed]]]:
        """Yield examples with the likeliest plans."""
        self._net.eval()
        for start in range(0, len(examples), 64):
            batch = examples[start : start + 64]
            with torch.no_grad():
                results = [each.numpy() for each in self._read(batch)]
            for one, whole, tokens in zip(batch, *results, strict=True):
                yield one, _likeliest(one, whole, tokens)

    def run(self) -> None:
        given, net = self._given, self._net
        steps = given.epochs * math.ceil(len(self._trained) / given.batch)
        fit = Fit(net, (net.pool, net.answers, net.span), given.rate, 4, steps)
        began = time.monotonic()
        for epoch in range(given.epochs):
            net.train()
            losses = [fit.step(loss_of(*self._read(batch), batch)) for batch in self._batches()]
            with fit.averaged():
                figures = {"epoch": epoch, "loss": sum(losses) / len(losses), "seconds": time.monotonic() - began}
                figures |= self.figures()
                print(json.dumps({name: round(value, 3) for name, value in figures.items()}), flush=True)
                self._export(figures)

    def _batches(self) -> list[list[Example]]:
        size = self._given.batch
        shuffled = self._draw.sample(self._trained, len(self._trained))
        pools = (
            sorted(shuffled[at : at + 20 * size], key=lambda each: len(each.ids))
            for at in range(0, len(shuffled), 20 * size)
        )
        found = [pool[at : at + size] for pool in pools for at in range(0, len(pool), size)]
        self._draw.shuffle(found)
        return found

    def _read(self, batch: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor]:
        ids, present = padded([each.ids for each in batch], self._model.pad)
        state = torch.zeros(*ids.shape, self._model.hidden, dtype=torch.bfloat16)
        for row, each in enumerate(batch):
            assert each.state is not None
            state[row, : len(each.ids)] = each.state
        with torch.autocast("cpu", torch.bfloat16):
            whole, tokens = self._net(state, present)
        return whole.float(), tokens.float()

    def figures(self) -> dict[str, float]:
        """Return what is right, stated and wrong, and stated of near misses, at some confidences."""
        found: list[tuple[float, bool, bool]] = []
        for one, likely in self._likely(self._held):
            parsed = next(iter(likely), None)
            is_right = say_the_same(parsed.plan if parsed else None, one.plan)
            found.append((parsed.confidence if parsed else 0.0, is_right, one.plan is not None))
        return shares(found)

    def _export(self, figures: dict[str, float]) -> None:
        about = {"examples": self._written, "seed": self._given.seed, "figures": figures}
        write_weights(self._given.folder / "tables.npz", self._net.tensors(), about)


def _likeliest(one: Example, whole: FloatArray, tokens: FloatArray) -> list[Parsed]:
    of_text = tokens[one.offset : one.offset + len(one.starts)]
    question = one.question
    reading = TableReading(whole, one.starts, of_text)
    return parse(question.text, question.language, question.source, one.read, reading, NOW)


def shares(found: Sequence[tuple[float, bool, bool]]) -> dict[str, float]:
    """Return shares of triples: a confidence (0: nothing stated), whether it is right, whether there is a plan."""
    answerable, near = sum(has for *_, has in found) or 1, sum(not has for *_, has in found) or 1
    said = {"right": sum(right for _, right, has in found if has) / answerable}
    for least in THRESHOLDS:
        stated = [each for each in found if each[0] >= least]
        said[f"right at {least}"] = sum(right for _, right, _ in stated) / answerable
        said[f"wrong at {least}"] = sum(not right for _, right, _ in stated) / max(len(found), 1)
        said[f"near at {least}"] = sum(not has for *_, has in stated) / near
    return said


if __name__ == "__main__":
    main()
