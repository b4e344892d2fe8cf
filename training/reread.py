"""Trains the reader further on windows of papers; writes `reader.npz` and the figures of held papers after each epoch.

    python -m training.reread FOLDER WINDOWS.jsonl … [--held k,n] [--replay CORPUS.pkl] …

`WINDOWS` are made by `training.windows`. Of each question, the window that answers is told from those that the program
reads beside it: each by itself (binary cross-entropy), and all of a question together (cross-entropy). Where an answer
begins is told by sentence, as the program uses it. So that nothing is forgotten, a part of the examples are those of
`training.examples`, drawn from the corpus that `python -m training` keeps.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from answerable.e5.encoder import Tokenizer, tokenizer_of, tokens_of
from answerable.e5.readers import HEADER, QUESTION, WINDOW
from answerable.e5.weights import ModelFile, ReaderWeights, model_path
from training.corpus import load
from training.examples import Examples
from training.export import commit
from training.fit import Fit
from training.model import Reader, load_tensors, padded, tensors_of
from training.weights import write_weights

SHIPPED = Path(__file__).parents[1] / "src" / "answerable" / "e5" / "reader.npz"
FROZEN = 4
"""Layers of the shipped reader that are the embedder's."""
BESIDE = 3
"""Windows without the answer that are shown with each question, the likeliest first."""
WITHOUT = 0.5
"""The weight of a window without the answer: there are more of them."""
TOGETHER, BEGINNING = 0.5, 0.3
"""The weights of the loss over a question's windows, and of that for where the answer begins, beside the first."""
SAVE_SECONDS = 600
"""After this time the weights are saved, so that a stop loses ten minutes at most."""


@dataclass(slots=True, eq=False)
class Read:
    """A window as token ids; `span` are the tokens in which the answer begins, None if it doesn't answer."""

    ids: np.ndarray
    span: tuple[int, int] | None
    state: torch.Tensor | None = None


@dataclass(slots=True, eq=False)
class Asked:
    """A question's windows, that with the answer first if there is one."""

    kind: str
    windows: list[Read]


def asked_of(line: dict[str, Any], model: ModelFile, tokenizer: Tokenizer, most: int) -> Asked:
    """Return a line of windows as token ids: the window that answers, and at most `most` others."""
    head = [model.bos, *tokens_of(line["q"], tokenizer).ids[:QUESTION].tolist(), model.eos, model.eos]
    found, answer = list[Read](), line["answer"]
    for number, text in enumerate(line["windows"]):
        tokens = tokens_of(text, tokenizer)
        ids = tokens.ids[: WINDOW + HEADER]
        span = None
        if answer and answer[0] == number:
            first, last = np.searchsorted(tokens.starts[: len(ids)], answer[1:]).tolist()
            if first == last:
                continue
            span = (len(head) + first, len(head) + last)
        found.append(Read(np.array([*head, *ids.tolist(), model.eos]), span))
    found.sort(key=lambda each: each.span is None)
    return Asked(line["kind"], found[: most + bool(found and found[0].span)])


class Run:
    def __init__(self, given: argparse.Namespace) -> None:
        self._given, self._draw = given, random.Random(given.seed)
        torch.manual_seed(given.seed)
        self._model = ModelFile(model_path())
        self._net = Reader(self._model, FROZEN)
        load_tensors(self._net, ReaderWeights(given.begin))
        for layer in self._net.layers[: given.frozen]:
            for parameter in layer.parameters():
                parameter.requires_grad = False
        tokenizer = tokenizer_of(self._model)
        held = given.held.split(",")
        lines = [json.loads(line) for path in given.windows for line in path.open(encoding="utf-8")]
        make = [(line, 99 if line["file"] in held else BESIDE) for line in lines]
        both = [(line["file"] in held, asked_of(line, self._model, tokenizer, most)) for line, most in make]
        self._trained = [each for is_held, each in both if not is_held and each.windows]
        self._trained = self._draw.sample(self._trained, int(len(self._trained) * given.share))
        self._held = [each for is_held, each in both if is_held and each.windows]
        self._trained += self._replayed()
        for each in (self._trained, self._held):
            self._add_states([window for asked in each for window in asked.windows])
        print(f"{len(self._trained)} questions, {len(self._held)} held", flush=True)

    def _replayed(self) -> list[Asked]:
        """Return examples of the sets that the reader was trained on, each as a question with one window."""
        if not self._given.replay:
            return []
        examples = iter(Examples(load(self._given.replay)[0], self._given.seed))
        drawn = (next(examples) for _ in range(self._given.replayed))
        return [Asked("replay", [Read(one.ids, (one.start, one.end + 1) if one.answers else None)]) for one in drawn]

    def _add_states(self, windows: list[Read]) -> None:
        windows = sorted(windows, key=lambda each: len(each.ids))
        for start in range(0, len(windows), 32):
            batch = windows[start : start + 32]
            ids, present = padded([each.ids for each in batch], self._model.pad)
            bias = _bias(present)
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
                state = self._net.ln(self._net.embed(ids))
                for layer in self._net.layers[: self._given.frozen]:
                    state = layer(state, bias, 0.0)
            for one, own in zip(batch, state.to(torch.bfloat16), strict=True):
                one.state = own[: len(one.ids)].clone()

    def run(self) -> None:
        given, net = self._given, self._net
        steps = given.epochs * math.ceil(len(self._trained) / given.batch)
        fit = Fit(net, (net.pool, net.answers, net.span), given.rate, 2, steps)
        print(json.dumps({"epoch": -1, **self.figures()}), flush=True)
        began, saved = time.monotonic(), time.monotonic()
        for epoch in range(given.epochs):
            net.train()
            losses: list[float] = []
            for batch in self._batches():
                losses.append(fit.step(self._loss(batch)))
                if time.monotonic() - saved > SAVE_SECONDS:
                    saved = time.monotonic()
                    print(f"{len(losses)} steps, loss {sum(losses[-300:]) / len(losses[-300:]):.3f}", flush=True)
                    with fit.averaged():
                        self._export({"steps": len(losses)})
            with fit.averaged():
                figures = {"epoch": epoch, "loss": sum(losses) / len(losses), "seconds": time.monotonic() - began}
                figures |= self.figures()
                print(json.dumps({name: round(value, 3) for name, value in figures.items()}), flush=True)
                self._export(figures)

    def _export(self, figures: dict[str, float]) -> None:
        before = ReaderWeights(self._given.begin).about
        about = {
            "examples": before["examples"] + len(self._trained),
            "seed": self._given.seed,
            "commit": commit(),
            "data": {path.name: sha256(path.read_bytes()).hexdigest() for path in self._given.windows},
            "figures": figures,
            "begun with": before,
        }
        write_weights(self._given.folder / "reader.npz", tensors_of(self._net), about)

    def _batches(self) -> Iterator[list[Asked]]:
        shuffled = self._draw.sample(self._trained, len(self._trained))
        return (shuffled[at : at + self._given.batch] for at in range(0, len(shuffled), self._given.batch))

    def _loss(self, batch: Sequence[Asked]) -> torch.Tensor:
        windows = [window for asked in batch for window in asked.windows]
        answers, starts = self._read(windows)
        target = torch.tensor([float(each.span is not None) for each in windows])
        weight = torch.where(target > 0, 1.0, WITHOUT)
        single = functional.binary_cross_entropy_with_logits(answers, target, reduction="none") * weight
        losses = [single.sum() / len(batch)]
        at = 0
        for asked in batch:
            own = answers[at : at + len(asked.windows)]
            if asked.windows[0].span is not None:
                losses.append(TOGETHER * functional.cross_entropy(own[None], torch.tensor([0])) / len(batch))
                first, last = asked.windows[0].span
                logs = torch.log_softmax(starts[at], -1)[first:last]
                losses.append(-BEGINNING * torch.logsumexp(logs, -1) / len(batch))
            at += len(own)
        return torch.stack(losses).sum()

    def _read(self, windows: Sequence[Read]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits that each window answers, and that the answer begins at each of its tokens."""
        net = self._net
        _, present = padded([each.ids for each in windows], self._model.pad)
        state = torch.zeros(*present.shape, self._model.hidden, dtype=torch.bfloat16)
        for row, each in enumerate(windows):
            assert each.state is not None
            state[row, : len(each.ids)] = each.state
        with torch.autocast("cpu", torch.bfloat16):
            for layer in net.layers[self._given.frozen :]:
                state = layer(state, _bias(present), net.dropout)
            state = state.float()
            pooled = functional.dropout(torch.tanh(net.pool(state[:, 0])), net.dropout, net.training)
            spans = net.span(state)
            answers = net.answers(pooled)
        return answers.float()[:, 0], spans[..., 0].float().masked_fill(~present, -1e4)

    def figures(self) -> dict[str, float]:
        """Return how often the window that answers is first, and areas of its logit against near and absent ones."""
        self._net.eval()
        best: dict[str, list[float]] = {"answered": [], "near": [], "absent": []}
        first = []
        for start in range(0, len(self._held), 16):
            batch = self._held[start : start + 16]
            with torch.no_grad():
                answers = self._read([window for asked in batch for window in asked.windows])[0].numpy()
            at = 0
            for asked in batch:
                own = answers[at : at + len(asked.windows)]
                at += len(own)
                if asked.kind == "answered":
                    first.append(asked.windows[0].span is not None and own.argmax() == 0)
                if asked.kind != "answered" or first[-1]:
                    best[asked.kind].append(float(own.max()))
        areas = {name: _area(best["answered"], best[name]) for name in ("near", "absent")}
        return {"first": float(np.mean(first)), **areas}


def _bias(present: torch.Tensor) -> torch.Tensor:
    return torch.where(present, 0.0, -1e4)[:, None, None, :].to(torch.bfloat16)


def _area(right: Sequence[float], wrong: Sequence[float]) -> float:
    return float(np.mean(np.array(right)[:, None] > np.array(wrong)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("windows", type=Path, nargs="+")
    parser.add_argument("--held", default="", help="the files, as k,n, whose questions are only measured on")
    parser.add_argument("--begin", type=Path, default=SHIPPED)
    parser.add_argument("--replay", type=Path, help="the corpus.pkl of `python -m training`")
    parser.add_argument("--replayed", type=int, default=8000, help="examples of the replay")
    parser.add_argument("--share", type=float, default=1.0, help="the share of the questions to train on")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--batch", type=int, default=6)
    parser.add_argument("--frozen", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    Run(given).run()


if __name__ == "__main__":
    main()
