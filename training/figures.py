"""Figures of a reader on articles that it was not trained on."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import torch

from answerable.e5.encoder import Tokenizer, tokens_of
from answerable.e5.weights import ModelFile, model_path
from answerable.evaluation.calibration import area_under_curve
from training import everyday
from training.corpus import Corpus, Passage, Question, Span
from training.examples import LONGEST_QUESTION, WINDOW
from training.model import Reader, padded

LANGUAGES = ("en", "es", "pt")
QUESTIONS = 300
WITH_NEAR = 100
NEAR = 4
BATCH = 64
NOT_FOUND = -99.0

Found = tuple[float, int, int]
"""The logit of a passage's best window, and the characters of its best span."""


class Figures:
    """Measures readers on a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._model = ModelFile(model_path())
        self._tokenizer = Tokenizer(self._model)

    def measure(self, reader: Reader) -> dict[str, float]:
        """Return the areas under the ROC curve and shares, by name and language.

        "unanswerable": answerable questions against the set's unanswerable ones, each with its paragraph. "near":
        a question with its paragraph and `NEAR` similar ones against the similar ones only. "first": how often its
        paragraph is first among these. "span": how often the span found meets a gold answer. `es>en`: Spanish
        questions about English paragraphs. "everyday": answerable questions about everyday papers against the others.
        """
        figures = self._everyday(reader)
        for language in LANGUAGES:
            draw = random.Random(5)
            asked = [
                question
                for question in self._corpus.questions
                if question.language == language and question.source != everyday.SOURCE
            ]
            yes = draw.sample([question for question in asked if question.answers], QUESTIONS)
            no = draw.sample([question for question in asked if not question.answers], QUESTIONS)
            found = self._read(reader, [(each.text, self._passage(each)) for each in yes])
            empty = self._read(reader, [(each.text, self._passage(each)) for each in no])
            figures[f"unanswerable {language}"] = area_under_curve([f[0] for f in found], [f[0] for f in empty])
            meets = [
                any(start < b and a < end for a, b in q.answers) for q, (_, start, end) in zip(yes, found, strict=True)
            ]
            figures[f"span {language}"] = float(np.mean(meets))
            own, others = self._with_near(reader, [(each.text, each) for each in yes[:WITH_NEAR]])
            figures[f"near {language}"] = area_under_curve(
                [max(pair) for pair in zip(own, others, strict=True)], others
            )
            figures[f"first {language}"] = float(np.mean([a > b for a, b in zip(own, others, strict=True)]))
            if language == "en":
                for other in LANGUAGES[1:]:
                    pairs = [(q.translations[other], q) for q in asked if q.answers and other in q.translations]
                    own, others = self._with_near(reader, draw.sample(pairs, WITH_NEAR))
                    figures[f"near {other}>en"] = area_under_curve(
                        [max(pair) for pair in zip(own, others, strict=True)], others
                    )
        return {name: round(value, 4) for name, value in figures.items()}

    def _everyday(self, reader: Reader) -> dict[str, float]:
        """Return the area of answered against unanswered questions about everyday papers, over all languages."""
        asked = [question for question in self._corpus.questions if question.source == everyday.SOURCE]
        found = self._read(reader, [(question.text, self._passage(question)) for question in asked])
        yes = [read[0] for question, read in zip(asked, found, strict=True) if question.answers]
        no = [read[0] for question, read in zip(asked, found, strict=True) if not question.answers]
        return {"everyday": area_under_curve(yes, no)} if yes and no else {}

    def _with_near(self, reader: Reader, asked: Sequence[tuple[str, Question]]) -> tuple[list[float], list[float]]:
        """Return the logit of each question's paragraph, and the highest one of the similar paragraphs."""
        own = [found[0] for found in self._read(reader, [(text, self._passage(each)) for text, each in asked])]
        pairs = [(text, self._corpus.passages[n]) for text, each in asked for n in each.near[:NEAR]]
        near = iter(self._read(reader, pairs))
        return own, [max((next(near)[0] for _ in each.near[:NEAR]), default=NOT_FOUND) for _, each in asked]

    def _passage(self, question: Question) -> Passage:
        return self._corpus.passages[question.passage]

    @torch.no_grad()
    def _read(self, reader: Reader, pairs: Sequence[tuple[str, Passage]]) -> list[Found]:
        reader.eval()
        model = self._model
        rows: list[tuple[np.ndarray, int, int, int]] = []
        for number, (question, passage) in enumerate(pairs):
            asked = tokens_of(question, self._tokenizer).ids[:LONGEST_QUESTION]
            head = [model.bos, *asked, model.eos, model.eos]
            for start, end in windows(passage):
                ids = np.array([*head, *passage.tokens.ids[start:end], model.eos], np.int64)
                rows.append((ids, number, len(head), start))
        best: list[Found] = [(NOT_FOUND, 0, 0)] * len(pairs)
        rows.sort(key=lambda row: len(row[0]))
        for at in range(0, len(rows), BATCH):
            batch = rows[at : at + BATCH]
            ids, present = padded([row[0] for row in batch], model.pad)
            with torch.autocast("cpu", torch.bfloat16):
                answers, starts, ends = reader(reader.embed(ids), present)
            for n, (tokens, number, head_length, start) in enumerate(batch):
                if float(answers[n]) > best[number][0]:
                    inside = slice(head_length, len(tokens) - 1)
                    first, last = best_span(starts[n, inside].numpy(), ends[n, inside].numpy())
                    covered = pairs[number][1].tokens
                    span = int(covered.starts[start + first]), int(covered.ends[start + last])
                    best[number] = (float(answers[n]), *span)
        return best


def windows(passage: Passage) -> list[Span]:
    """Return spans of tokens: whole sentences up to the window's size, each from the middle of the one before."""
    found: list[Span] = []
    sentences, low = passage.sentences, 0
    while low < len(sentences):
        high = low
        while high + 1 < len(sentences) and sentences[high + 1][1] - sentences[low][0] <= WINDOW:
            high += 1
        start, end = sentences[low][0], sentences[high][1]
        found.extend((at, min(at + WINDOW, end)) for at in range(start, end, WINDOW))
        if high + 1 >= len(sentences):
            break
        low = next((n for n in range(low + 1, high + 1) if sentences[n][0] - start >= WINDOW // 2), high + 1)
    return found


def best_span(starts: np.ndarray, ends: np.ndarray, longest: int = 30) -> Span:
    """Return the first and last token of the span with the highest sum of logits, at most `longest` tokens."""
    both = starts[:, None] + ends[None, :]
    allowed = np.triu(np.ones_like(both, bool)) & ~np.triu(np.ones_like(both, bool), longest)
    place = int(np.argmax(np.where(allowed, both, -1e9)))
    return place // len(ends), place % len(ends)
