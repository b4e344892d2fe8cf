"""Figures of a judge of statements on articles that it was not trained on; the statements are made as in training."""

from __future__ import annotations

from collections import defaultdict

import torch

from answerable.e5.model_file import ModelFile, model_path
from answerable.evaluation.calibration import area_under_curve
from training.corpus import Corpus
from training.model import Reader, padded
from training.statement import Statement
from training.statements import Statements

STATEMENTS = 1_500
SEED = 7
BATCH = 64


class SupportFigures:
    """Measures judges on statements drawn from a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._pad = ModelFile(model_path()).pad

    def measure(self, reader: Reader) -> dict[str, float]:
        """Return areas under the ROC curve by language, and by kind the shares that are judged rightly at even odds."""
        statements = Statements(self._corpus, SEED)
        drawn: list[Statement] = []
        while len(drawn) < STATEMENTS:
            one = statements.statement()
            if one is not None:
                drawn.append(one)
        logits = self.logits(reader, statements, drawn)
        figures: dict[str, float] = {}
        by_language: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
        by_kind: dict[str, list[bool]] = defaultdict(list)
        for one, logit in zip(drawn, logits, strict=True):
            by_language[one.language][not one.is_true].append(logit)
            by_kind[f"{one.kind} {'true' if one.is_true else 'false'}"].append((logit > 0) == one.is_true)
        for language, (true, false) in sorted(by_language.items()):
            figures[f"support {language}"] = area_under_curve(true, false)
        for kind, right in sorted(by_kind.items()):
            figures[kind] = sum(right) / len(right)
        return {name: round(value, 4) for name, value in figures.items()}

    @torch.no_grad()
    def logits(self, reader: Reader, statements: Statements, drawn: list[Statement]) -> list[float]:
        """Return the logit of each statement; that of an empty one is the lowest."""
        reader.eval()
        examples = [(row, made) for row, one in enumerate(drawn) if (made := statements.example(one))]
        examples.sort(key=lambda pair: len(pair[1].ids))
        found = [-99.0] * len(drawn)
        for at in range(0, len(examples), BATCH):
            batch = examples[at : at + BATCH]
            ids, present = padded([example.ids for _, example in batch], self._pad)
            with torch.autocast("cpu", torch.bfloat16):
                answers = reader(reader.embed(ids), present)[0]
            for (row, _), logit in zip(batch, answers.tolist(), strict=True):
                found[row] = logit
        return found
