"""Fit the weights of `answerable.answering.checking.refusals`: ridge regression on vectors of sentences.

`python -m training.refusals` prints the accuracy in ten folds, then writes the weights. A minute on two processors.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from pathlib import Path

import numpy as np

from answerable.answering.checking.refusals import WEIGHTS
from answerable.datatypes import FloatArray
from answerable.settings import Settings
from answerable.text.sentences import sentence_spans
from answerable.wiring.passages import build_local_embedder

WRITTEN = Path(__file__).with_name("written")
# Half of the sentences refuse, and few are plain answers: every ninth of the judge's statements is one.
PLAIN = 9
WEIGHT = 0.1
# Of .1 and .3, with weights of .05 to .3: in ten folds 80 % of refusals are found; 12 % of answers that look like one
# and 7 % of plain ones are taken for one.
PENALTY = 0.3
FOLDS = 10

_MARK = re.compile(r"\s*\[\d{1,3}\]")


def fit(vectors: FloatArray, refuses: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
    """Return weights and bias; `vectors` are (sentences, dimension), `refuses` are 1 and -1."""
    mean, wanted = np.average(vectors, 0, weights), np.average(refuses, weights=weights)
    root = np.sqrt(weights)
    centred = (vectors - mean) * root[:, None]
    square = centred.T @ centred + PENALTY * np.eye(vectors.shape[1])
    found = np.linalg.solve(square, centred.T @ ((refuses - wanted) * root))
    return found, float(wanted - mean @ found)


def main() -> None:
    """Fit, print the accuracy in folds, write."""
    rows = [json.loads(line) for line in (WRITTEN / "refusals.jsonl").read_text("utf-8").splitlines()]
    plain = [line.split("\t")[4] for line in (WRITTEN / "statements.tsv").read_text("utf-8").splitlines()[::PLAIN]]
    embedder = build_local_embedder(Settings())
    texts = [*(_first(row["text"], row["language"]) for row in rows), *plain]
    vectors = np.array([embedder.embed_query(text) for text in texts])
    refuses = np.array([2.0 * row["refuses"] - 1 for row in rows] + [-1.0] * len(plain))
    weights = np.array([1.0] * len(rows) + [WEIGHT] * len(plain))
    folds = np.random.default_rng(0).integers(0, FOLDS, len(texts))
    right = 0
    for fold in range(FOLDS):
        kept, tried = folds != fold, (folds == fold) & (weights == 1)
        found, bias = fit(vectors[kept], refuses[kept], weights[kept])
        right += int(((vectors[tried] @ found + bias > 0) == (refuses[tried] > 0)).sum())
    print(f"{len(rows)} sentences, {right / len(rows):.3f} right in folds")
    found, bias = fit(vectors, refuses, weights)
    packed = b64encode(found.astype(np.float16).tobytes()).decode()
    WEIGHTS.write_text(json.dumps({"sentences": len(texts), "bias": round(bias, 6), "weights": packed}) + "\n", "utf-8")


def _first(text: str, language: str) -> str:
    plain = _MARK.sub("", text)
    start, end = sentence_spans(plain, language)[0]
    return plain[start:end]


if __name__ == "__main__":
    main()
