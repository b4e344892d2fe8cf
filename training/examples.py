"""Questions and passages → what one step of training reads."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from answerable.e5.encoder import Tokenizer, tokens_of
from answerable.e5.weights import ModelFile, model_path
from training import everyday
from training.corpus import Corpus, Passage, Question, Span
from training.dressing import Window, dress
from training.other_words import LANGUAGES, OtherWords
from training.questions import as_typed, with_another_name
from training.tables import table

WINDOW = 112
LONGEST_QUESTION = 48
DRESSING = 40
TRANSLATED = 0.5
TABLES = 0.03
ANOTHER_NAME = 0.07
OTHER_WORDS = 0.35
EXCHANGED = 0.5
MIXED = {"en": 0.35}
"""How often windows of a language get words of another: of `MIXED_WITH`, with `MIXED_WORDS` of their words."""
MIXED_WITH = ("es", "es", "pt", "pt", "de")
MIXED_WORDS = 0.85
MIXED_QUESTIONS = 0.75
OWN_PASSAGE = 0.66
NEAR_FOR_UNANSWERABLE = 0.2
UNANSWERABLE_WEIGHT = 1.6
INFERRED = 0.6
EVERYDAY = 0.45
"""How often an example is about an everyday paper."""
TITLED = 0.7
SHARES = {
    "squad2/en": 4.0, "squad2/es": 8.0, "squad2/pt": 6.0, "xquad/en": 1.0, "xquad/es": 5.0, "xquad/de": 1.5,
    "xquad/ro": 1.5, "xquad/el": 1.0, "xquad/ru": 1.0, "xquad/tr": 1.0, "xquad/ar": 1.0, "xquad/vi": 1.0,
    "xquad/th": 0.5, "xquad/zh": 1.0, "xquad/hi": 1.0, "squad_es_dist": 5.0, "squad1_pt_sample": 5.0,
    "squadshifts": 0.7, "qed_nq": 1.2, "tydiqa_goldp_en": 2.0, "fairytaleqa": 2.0, "covidqa": 1.5, "clapnq_dev": 3.0,
    "squad2_backtranslated_en_ambiguous": 0.4,
}  # fmt: skip
"""How often a set's questions are drawn, relative to 1."""

_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Example:
    """Token ids. `answers` is 1 if the window answers; then `start` and `end` are the answer's first and last token."""

    ids: npt.NDArray[np.int64]
    start: int
    end: int
    answers: float
    weight: float
    has_span: bool


class Examples:
    """Draws examples without end; the same ones from the same seed."""

    def __init__(self, corpus: Corpus, seed: int) -> None:
        self._corpus = corpus
        self._model = ModelFile(model_path())
        self._tokenizer = Tokenizer(self._model)
        self._other_words = OtherWords(corpus, self._model)
        self._draw = random.Random(seed)
        weights = [SHARES.get(q.source, 1.0) * (1.0 if q.answers else UNANSWERABLE_WEIGHT) for q in corpus.questions]
        self._cumulative = np.cumsum(_with_everyday(corpus, np.array(weights)))

    def __iter__(self) -> Iterator[Example]:
        while True:
            if self._draw.random() < TABLES:
                made = self._encoded(table(self._draw)[1], 1.0, has_span=True)
            else:
                place = int(np.searchsorted(self._cumulative, self._draw.random() * self._cumulative[-1]))
                made = self._example(self._corpus.questions[min(place, len(self._corpus.questions) - 1)])
            if made is not None:
                yield made

    def _example(self, question: Question) -> Example | None:
        draw = self._draw
        text, language = question.text, question.language
        if question.translations and draw.random() < TRANSLATED:
            language, text = draw.choice(sorted(question.translations.items()))
        passage, answer = self._passage(question)
        weight = question.weight
        focus = answer or _likeliest_sentence(passage, question.text, draw)
        start, end = _window(passage, focus, draw)
        if answer is not None and draw.random() < ANOTHER_NAME:
            renamed = with_another_name(text, passage.text[start:end], question.texts, draw)
            if renamed is not None:
                text, answer, weight = renamed, None, weight * INFERRED
        elif answer is None and question.answers and question.is_answered_by(passage.text[start:end]):
            return None
        if answer is not None and not (start <= answer[0] and answer[1] <= end):
            return None
        shown = (answer[0] - start, answer[1] - start) if answer else None
        cuts = [int(passage.tokens.starts[first]) - start for first, _ in passage.sentences]
        window = Window(text, passage.text[start:end], shown)
        if question.source == everyday.SOURCE:
            # These are in other words and languages, and in the form of chats and lists, by themselves.
            return self._encoded(_under_its_title(window, passage, draw), weight, question.has_span)
        window = dress(window, passage, language, cuts, draw)
        if draw.random() < OTHER_WORDS:
            window = replace(window, question=self._exchange(window.question, language))
        elif draw.random() < MIXED.get(passage.language, 0.0):
            window = self.mixed(window, language, passage.language)
        return self._encoded(window, weight, question.has_span)

    def _exchange(self, question: str, own: str) -> str:
        """Exchange words of a question for words of another language."""
        into = self._draw.choice([language for language in LANGUAGES if language != own])
        return self._other_words.exchange(question, own, into, EXCHANGED, self._draw)

    def mixed(self, window: Window, asked: str, read: str) -> Window:
        """Exchange words of a window, and mostly of its question, for words of one other language."""
        draw = self._draw
        into = draw.choice(MIXED_WITH)
        start, end = window.answer or (0, 0)
        before, answer, after = (
            self._other_words.exchange(part, read, into, MIXED_WORDS, draw)
            for part in (window.text[:start], window.text[start:end], window.text[end:])
        )
        question = window.question
        if draw.random() < MIXED_QUESTIONS:
            question = self._other_words.exchange(question, asked, into, MIXED_WORDS, draw)
        span = (len(before), len(before) + len(answer)) if window.answer else None
        return Window(question, before + answer + after, span)

    def _passage(self, question: Question) -> tuple[Passage, Span | None]:
        """Return the question's passage with one of its answers, or a passage that doesn't answer it."""
        draw, passages = self._draw, self._corpus.passages
        roll = draw.random()
        if question.answers and (roll < OWN_PASSAGE or not question.near):
            return passages[question.passage], draw.choice(question.answers)
        if question.near and (question.answers or roll < NEAR_FOR_UNANSWERABLE):
            return passages[draw.choice(question.near[: draw.choice((2, 4, 8))])], None
        return passages[question.passage], None

    def _encoded(self, window: Window, weight: float, has_span: bool) -> Example | None:
        question = as_typed(window.question, self._draw)
        asked = tokens_of(question, self._tokenizer).ids[:LONGEST_QUESTION]
        tokens = tokens_of(window.text, self._tokenizer)
        model, read = self._model, tokens.ids[: WINDOW + DRESSING]
        ids = np.array([model.bos, *asked, model.eos, model.eos, *read, model.eos], np.int64)
        if window.answer is None:
            return Example(ids, 0, 0, 0.0, weight, has_span=False)
        first = int(np.searchsorted(tokens.ends, window.answer[0], "right"))
        last = int(np.searchsorted(tokens.starts, window.answer[1], "left")) - 1
        if not 0 <= first <= last < len(read):
            return None
        before = len(asked) + 3
        return Example(ids, before + first, before + last, 1.0, weight, has_span)


def _with_everyday(corpus: Corpus, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the weights of questions so that those about everyday papers are drawn `EVERYDAY` of the time."""
    own = np.array([question.source == everyday.SOURCE for question in corpus.questions])
    if own.any():
        weights[own] *= EVERYDAY / (1 - EVERYDAY) * weights[~own].sum() / weights[own].sum()
    return weights


def _under_its_title(window: Window, passage: Passage, draw: random.Random) -> Window:
    """Return the window as the reader gets it: under the day of its chat or, mostly, its document's title."""
    day = everyday.DAY.match(passage.text)
    if day:
        head = "" if window.text.startswith(day[0]) else day[0]
    else:
        head = f"{passage.title}\n" if draw.random() < TITLED else ""
    span = (window.answer[0] + len(head), window.answer[1] + len(head)) if window.answer else None
    return Window(window.question, head + window.text, span)


def _window(passage: Passage, focus: Span, draw: random.Random) -> Span:
    """Return the characters of the sentences at `focus` (characters) with as many neighbours as fit."""
    tokens, sentences = passage.tokens, passage.sentences
    if not len(tokens.ids):
        return 0, len(passage.text)
    first = int(np.searchsorted(tokens.ends, focus[0], "right"))
    last = max(first, int(np.searchsorted(tokens.starts, focus[1], "left")) - 1)
    low = max((number for number, (start, _) in enumerate(sentences) if start <= first), default=0)
    high = min((number for number, (_, end) in enumerate(sentences) if end > last), default=len(sentences) - 1)
    low, high = _widened(sentences, low, max(low, high), draw)
    start, end = sentences[low][0], sentences[high][1]
    if end - start > WINDOW:
        start = max(start, min(first - draw.randrange(WINDOW // 2), end - WINDOW))
        end = min(end, max(start + WINDOW, last + 1))
    return int(tokens.starts[start]), int(tokens.ends[min(end, len(tokens.ids)) - 1])


def _widened(sentences: Sequence[Span], low: int, high: int, draw: random.Random) -> tuple[int, int]:
    """Return the range of sentences, widened at random on both sides up to a whole or half window."""
    room = draw.choice((WINDOW, WINDOW, WINDOW, WINDOW // 2))
    lean = draw.random()
    while True:
        size = sentences[high][1] - sentences[low][0]
        before = low > 0 and size + sentences[low][0] - sentences[low - 1][0] <= room
        after = high + 1 < len(sentences) and size + sentences[high + 1][1] - sentences[high][1] <= room
        if before and (not after or draw.random() < lean):
            low -= 1
        elif after:
            high += 1
        else:
            return low, high


def _likeliest_sentence(passage: Passage, question: str, draw: random.Random) -> Span:
    """Return the sentence with most of the question's words, sometimes any sentence."""
    tokens = passage.tokens
    spans = [(int(tokens.starts[a]), int(tokens.ends[b - 1])) for a, b in passage.sentences if b > a]
    if not spans or draw.random() < 0.3:
        return draw.choice(spans or [(0, len(passage.text))])
    wanted = {word[:6] for word in _WORD.findall(question.lower()) if len(word) > 3}

    def shared(span: Span) -> tuple[int, float]:
        words = _WORD.findall(passage.text[slice(*span)].lower())
        return len(wanted & {word[:6] for word in words}), draw.random()

    return max(spans, key=shared)
