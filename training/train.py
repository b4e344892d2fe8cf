"""Trains the reader; continues from its last checkpoint."""

from __future__ import annotations

import json
import math
import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import distributed
from torch.nn import functional

from answerable.e5.weights import ModelFile, ReaderWeights, model_path
from training.corpus import Corpus, load
from training.everyday import add_everyday
from training.examples import Example, Examples
from training.figures import Figures
from training.model import Reader, load_tensors, padded

BATCH = 32
POOL = 16
WARM_UP = 6_000
SAVE_SECONDS = 600
HEADS_RATE = 4.0
SPAN_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Options:
    """`begin` is a file of weights to begin from; without it, the embedder's.

    `examples` are all examples to see; in the last share `decay` the learning `rate` falls to 0.

    The first `frozen` layers are not trained. Each of the `processes` computes its share of every batch on one thread.
    `measure` is the number of examples between two measurements.
    """

    examples: int = 600_000
    decay: float = 0.25
    rate: float = 1.2e-4
    frozen: int = 4
    processes: int = 1
    measure: int = 20_000
    seed: int = 1000
    begin: str = ""


class Training:
    """One run in a folder: `checkpoint.pt`, replaced every ten minutes, and `curve.jsonl` with the figures.

    `rank` numbers the processes; only process 0 measures and saves.
    """

    def __init__(self, trained: Corpus, held: Corpus, folder: Path, options: Options, rank: int = 0) -> None:
        torch.set_num_threads(1)
        self._options = options
        self._rank = rank
        self._checkpoint, self._curve = folder / "checkpoint.pt", folder / "curve.jsonl"
        self._figures = Figures(held)
        self._trained = trained
        model = ModelFile(model_path())
        self._pad = model.pad
        self.reader = Reader(model, options.frozen)
        if options.begin:
            load_tensors(self.reader, ReaderWeights(Path(options.begin)))
        heads = [p for part in (self.reader.pool, self.reader.answers, self.reader.span) for p in part.parameters()]
        known = {id(p) for p in heads}
        body = [p for p in self.reader.parameters() if p.requires_grad and id(p) not in known]
        self._parameters = [*body, *heads]
        groups = [{"params": body, "factor": 1.0}, {"params": heads, "factor": HEADS_RATE}]
        self._optimizer = torch.optim.AdamW(groups, lr=options.rate, weight_decay=0.01, betas=(0.9, 0.98))
        self._average = {name: p.detach().clone() for name, p in self.reader.named_parameters() if p.requires_grad}
        self.seen = self._measured = 0
        if self._checkpoint.exists():
            kept = torch.load(self._checkpoint, weights_only=True)
            self.reader.load_state_dict(kept["reader"])
            self._optimizer.load_state_dict(kept["optimizer"])
            self._average, self.seen, self._measured = kept["average"], kept["seen"], kept["judged"]
        torch.manual_seed(self.seen + rank)

    def run(self) -> None:
        """Train until all examples have been seen."""
        saved, began, first = time.monotonic(), time.monotonic(), self.seen
        losses: list[tuple[float, float]] = []
        for batch in self._batches():
            losses.append(self._step(batch))
            self.seen += len(batch) * self._options.processes
            is_last = self.seen >= self._options.examples
            if self._rank:
                if is_last:
                    return
                continue
            if is_last or time.monotonic() - saved > SAVE_SECONDS:
                self._save()
                saved = time.monotonic()
                answering, spans = np.nanmean(losses[-300:], axis=0)
                speed = (self.seen - first) / (saved - began)
                print(f"{self.seen} loss {answering:.3f} {spans:.3f} {speed:.1f} examples/s", flush=True)
            if is_last or self.seen - self._measured >= self._options.measure:
                self._measured = self.seen
                self._write_figures()
            if is_last:
                return

    def use_average(self) -> dict[str, torch.Tensor]:
        """Replace the weights by their moving average; return the replaced ones."""
        own = {name: p.detach().clone() for name, p in self.reader.named_parameters() if p.requires_grad}
        self.reader.load_state_dict({**self.reader.state_dict(), **self._average})
        return own

    def _batches(self) -> Iterator[list[Example]]:
        """Yield batches of examples of similar length."""
        examples = iter(Examples(self._trained, self._options.seed + self.seen + self._rank))
        size = BATCH // self._options.processes
        while True:
            pool = sorted((next(examples) for _ in range(size * POOL)), key=lambda example: len(example.ids))
            batches = [pool[start : start + size] for start in range(0, len(pool), size)]
            random.Random(self.seen).shuffle(batches)
            yield from batches

    def _step(self, batch: Sequence[Example]) -> tuple[float, float]:
        rate = _rate(self.seen, self._options)
        for group in self._optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        self.reader.train()
        loss, parts = _loss(self.reader, batch, self._pad)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self._share_gradients()
        torch.nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimizer.step()
        kept = min(0.999, 1 - 1 / (1 + self.seen / BATCH / 10))
        with torch.no_grad():
            for name, p in self.reader.named_parameters():
                if p.requires_grad:
                    self._average[name].lerp_(p, 1 - kept)
        return parts

    def _share_gradients(self) -> None:
        """Replace the gradients by their mean over all processes."""
        if self._options.processes > 1:
            # A batch without a span leaves the span's head without gradients.
            gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in self._parameters]
            flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
            distributed.all_reduce(flat)
            flat /= self._options.processes
            for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
                gradient.copy_(part.view_as(gradient))
            for p, gradient in zip(self._parameters, gradients, strict=True):
                p.grad = gradient

    def _write_figures(self) -> None:
        own = self.use_average()
        figures = {"seen": self.seen, **self._figures.measure(self.reader)}
        self.reader.load_state_dict({**self.reader.state_dict(), **own})
        with self._curve.open("a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")
        print(figures, flush=True)
        self._save()

    def _save(self) -> None:
        part = self._checkpoint.with_suffix(".part")
        values: dict[str, Any] = {
            "reader": self.reader.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "average": self._average,
            "seen": self.seen,
            "judged": self._measured,
            "options": asdict(self._options),
        }
        torch.save(values, part)
        os.replace(part, self._checkpoint)


def train(rank: int, folder: Path, options: Options) -> None:
    """Train in one of several processes, on `corpus.pkl` in the folder."""
    meeting = f"file://{(folder / f'meeting-{os.getppid()}').resolve()}"
    distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=options.processes)
    trained, held = load(folder / "corpus.pkl")
    add_everyday(trained, held)
    Training(trained, held, folder, options, rank).run()


def _rate(seen: int, options: Options) -> float:
    """Return the learning rate: warm-up, constant, then falling to 0 (WSD, Hu et al. 2024, arXiv:2404.06395)."""
    left = (options.examples - seen) / (options.decay * options.examples)
    return options.rate * min(1.0, (seen + BATCH) / WARM_UP) * max(0.02, min(1.0, left))


def _loss(reader: Reader, batch: Sequence[Example], pad: int) -> tuple[torch.Tensor, tuple[float, float]]:
    """Return the loss, and its two parts: answering, and the span (NaN if no example of the batch has one)."""
    ids, present = padded([example.ids for example in batch], pad)
    words = reader.embed(ids)
    with torch.autocast("cpu", torch.bfloat16):
        answers, starts, ends = reader(words, present)
    target = torch.tensor([example.answers for example in batch])
    weight = torch.tensor([example.weight for example in batch])
    answering = (functional.binary_cross_entropy_with_logits(answers, target, reduction="none") * weight).mean()
    rows = [row for row, example in enumerate(batch) if example.has_span]
    if not rows:
        return answering, (answering.item(), math.nan)
    starts = starts.masked_fill(~present, -1e4)[rows]
    ends = ends.masked_fill(~present, -1e4)[rows]
    first = torch.tensor([batch[row].start for row in rows])
    last = torch.tensor([batch[row].end for row in rows])
    spans = (functional.cross_entropy(starts, first) + functional.cross_entropy(ends, last)) / 2
    return answering + SPAN_WEIGHT * spans * len(rows) / len(batch), (answering.item(), spans.item())
