"""Checkpoint → the weights that `answerable` ships, compared with the reader that they come from."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import numpy as np

from answerable.e5.readers import E5Reader, PairReader
from answerable.e5.weights import ReaderWeights
from training.corpus import Corpus, load
from training.everyday import add_everyday
from training.model import Reader, tensors_of
from training.train import Options, Training
from training.weights import write_weights

COMPARED = 200
LENGTHS = (64, 152)


def export(folder: Path, options: Options) -> dict[str, float]:
    """Write the weights of the checkpoint in a folder; return how they compare with those before rounding."""
    trained, held = load(folder / "corpus.pkl")
    add_everyday(trained, held)
    training = Training(trained, held, folder, options)
    training.use_average()
    curve = (folder / "curve.jsonl").read_text("utf-8").splitlines()
    about = {
        "examples": training.seen,
        "seed": options.seed,
        "options": asdict(options),
        "commit": commit(),
        "data": trained.hashes,
        "figures": json.loads(curve[-1]) if curve else {},
    }
    path = folder / E5Reader.file
    write_weights(path, tensors_of(training.reader), about)
    return compare(training.reader, path, held)


def compare(reader: Reader, path: Path, held: Corpus) -> dict[str, float]:
    """Read `COMPARED` held-out paragraphs in both ways; return how far the logits differ, and how often the starts."""
    questions = held.questions[:: len(held.questions) // COMPARED]
    pairs = [(question.text, held.passages[question.passage].text[:450]) for question in questions]
    shipped, exact = (PairReader(weights, LENGTHS).read(pairs) for weights in (ReaderWeights(path), _Exact(reader)))
    differences = [abs(float(one.logits[0] - other.logits[0])) for one, other in zip(shipped, exact, strict=True)]
    same = [one.scores[:, 0].argmax() == other.scores[:, 0].argmax() for one, other in zip(shipped, exact, strict=True)]
    return {"mean": float(np.mean(differences)), "largest": max(differences), "same start": float(np.mean(same))}


class _Exact(ReaderWeights):
    """The weights of a reader, without rounding."""

    def __init__(self, reader: Reader) -> None:
        self._tensors, self.about = tensors_of(reader), {}


def commit() -> str:
    """Return the commit of the code that trains; "" outside a repository."""
    folder = Path(__file__).parent
    return subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=folder, capture_output=True, text=True, check=False
    ).stdout.strip()
