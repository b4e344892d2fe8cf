"""Statements about passages, true and false: what the support model learns from.

True ones are sentences of the passage, sentences of another wording or translation of it, two of them joined, and
questions with their answers. False ones are true ones changed (`falsehoods`), with another answer, or about another
passage. Some true ones are changed in statement and passage alike, so that no word alone tells true from false.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from answerable.datatypes import FloatArray
from answerable.e5.model_file import ModelFile, model_path
from answerable.e5.tokenizer import Tokenizer
from answerable.reading.tokens import tokens_of
from training.corpus import Corpus, Passage, Question
from training.declarative import LONGEST_ANSWER, declarative
from training.examples import Example
from training.falsehoods import NUMBER, Made, Material, exchange, make_false, names_of, words_of
from training.other_words import OtherWords, words_and_vectors
from training.pair_draws import PairDraws
from training.statement import Statement

WINDOW = 140
LONGEST_PASSAGE = 224
LONGEST_STATEMENT = 64
FRAMED = 0.2
EXCHANGED_IN_BOTH = 0.2
OTHER_LANGUAGE = 0.06
OTHER_LANGUAGE_WORDS = 0.8
MIXED = 0.1
WRITTEN = 0.85
FROM_ELSEWHERE = 0.12
TWO = 0.12
ASKED = 0.3
TWIN = 0.75
TWINS = 6.0
SAME_PARAGRAPH = 0.5
SIMILAR = (0.3, 0.6)
MOST_SIMILAR = 12
SPOKEN = ("en", "es", "pt")
SHARES = {
    "squad2/en": 6.0, "squad2/es": 14.0, "squad2/pt": 14.0, "xquad/en": 4.0, "xquad/es": 10.0, "squad_es_dist": 5.0,
    "squad1_pt_sample": 6.0, "squad1_train_du": 4.0, "squad2_train_10": 4.0, "squad1_flan": 2.0,
    "squad2_backtranslated_en": 1.0, "squadshifts": 1.0, "qed_nq": 0.5, "tydiqa_goldp_en": 1.0, "fairytaleqa": 1.5,
    "covidqa": 1.0, "clapnq_dev": 1.0,
}  # fmt: skip
"""How often a set's passages are drawn, relative to 1; sets that aren't named, never."""


@dataclass(frozen=True, slots=True)
class Window:
    """Sentences of a passage, and the one of them that a statement is about."""

    text: str
    evidence: str


class Statements:
    """Draws statements without end; the same ones from the same seed."""

    def __init__(self, corpus: Corpus, seed: int) -> None:
        self._corpus = corpus
        self._model = ModelFile(model_path())
        self._tokenizer = Tokenizer(self._model)
        self._other_words = OtherWords(corpus, self._model)
        self._similar = _similar_words(*words_and_vectors(corpus, self._model))
        self._draw = random.Random(seed)
        self._twins = twins(corpus)
        self._questions: dict[int, list[Question]] = defaultdict(list)
        self._groups: dict[str, list[int]] = defaultdict(list)
        weights: dict[int, float] = {}
        for question in corpus.questions:
            passage = corpus.passages[question.passage]
            if question.source in SHARES and passage.language in SPOKEN:
                self._questions[question.passage].append(question)
                weights[question.passage] = SHARES[question.source] * (
                    TWINS if self._twins.get(question.passage) else 1.0
                )
        for number in weights:
            self._groups[corpus.passages[number].group].append(number)
        self._numbers = list(weights)
        self._cumulative = np.cumsum(list(weights.values()))
        self._pairs = PairDraws(corpus.pairs) if corpus.pairs else None

    def __iter__(self) -> Iterator[Example]:
        while True:
            drawn = self.statement()
            if drawn is None:
                continue
            made = self.example(drawn)
            if made is not None:
                yield made

    def example(self, drawn: Statement) -> Example | None:
        """Return what the model reads; None if the statement or the passage is empty."""
        model = self._model
        ids = tokens_of(drawn.text, self._tokenizer).ids[:LONGEST_STATEMENT]
        tokens = tokens_of(drawn.passage, self._tokenizer)
        read = tokens.ids[:LONGEST_PASSAGE]
        if not len(ids) or not len(read):
            return None
        own = np.array([model.bos, *ids, model.eos, model.eos, *read, model.eos], np.int64)
        start = drawn.passage.find(drawn.evidence) if drawn.evidence else -1
        if start < 0 or not drawn.is_true:
            return Example(own, 0, 0, float(drawn.is_true), 1.0, has_span=False)
        first = int(np.searchsorted(tokens.ends, start, "right"))
        last = int(np.searchsorted(tokens.starts, start + len(drawn.evidence), "left")) - 1
        before = len(ids) + 3
        return Example(own, before + first, before + last, 1.0, 1.0, has_span=first <= last < len(read))

    def statement(self) -> Statement | None:
        """Return the next statement; None if what was drawn makes none."""
        draw = self._draw
        is_written = self._pairs is not None and draw.random() < WRITTEN
        made = self._pairs.draw(draw) if self._pairs is not None and is_written else self._made()
        if made is None:
            return None
        text = made.text
        language = made.language
        if draw.random() < OTHER_LANGUAGE:
            into = draw.choice([other for other in SPOKEN if other != language])
            text = self._other_words.exchange(text, language, into, OTHER_LANGUAGE_WORDS, draw)
        elif made.passage_language == "en" and draw.random() < MIXED:
            into = draw.choice(SPOKEN[1:])
            made = self._mixed(made, into)
            if language == "en":
                text = self._other_words.exchange(text, language, into, OTHER_LANGUAGE_WORDS, draw)
        if draw.random() < FRAMED:
            frame = draw.choice(words_of(language).frames)
            is_inside = frame.rstrip().endswith("{}") and not frame.rstrip(" {}").endswith((".", ":"))
            text = frame.strip().format(text[:1].lower() + text[1:] if is_inside and text[1:2].islower() else text)
        return replace(made, text=text)

    def _made(self) -> Statement | None:
        """Make a statement about a passage of the corpus."""
        draw = self._draw
        place = int(np.searchsorted(self._cumulative, draw.random() * self._cumulative[-1]))
        number = self._numbers[min(place, len(self._numbers) - 1)]
        passage = self._corpus.passages[number]
        made = self._asked(number, passage) if draw.random() < ASKED else self._told(number, passage)
        return None if made is None else replace(made, passage_language=passage.language)

    def _mixed(self, made: Statement, into: str) -> Statement:
        """Exchange words of the passage for words of another language."""
        at = made.passage.find(made.evidence) if made.evidence else 0
        end = at + len(made.evidence)
        before, evidence, after = (
            self._other_words.exchange(part, "en", into, OTHER_LANGUAGE_WORDS, self._draw)
            for part in (made.passage[:at], made.passage[at:end], made.passage[end:])
        )
        return replace(made, passage=before + evidence + after, evidence=evidence)

    def _told(self, number: int, passage: Passage) -> Statement | None:
        """Make a statement of a sentence, in the passage's words or those of a twin."""
        draw = self._draw
        own = sentences_of(passage)
        if not own:
            return None
        at = draw.randrange(len(own))
        said, language = own[at], passage.language
        others = self._twins.get(number, ())
        if others and draw.random() < TWIN:
            other = self._corpus.passages[draw.choice(others)]
            found = counterpart(own, at, sentences_of(other))
            if found is None:
                return None
            said, language = found, other.language
        if draw.random() < FROM_ELSEWHERE:
            return self._elsewhere(number, said, language)
        window = _window(own, at, draw, self._length)
        material = self._material(passage, window, language)
        neighbours = [sentence for sentence in own if sentence != own[at] and sentence in window]
        is_true = draw.random() < 0.5
        if draw.random() < TWO and neighbours:
            return self._two(said, neighbours, material, window, is_true, passage.language == language)
        kind = "close" if said == own[at] else "paraphrase" if language == passage.language else "translation"
        return self._true_or_false(said, material, Window(window, own[at]), is_true, kind, neighbours)

    def _true_or_false(
        self, said: str, material: Material, window: Window, is_true: bool, kind: str, others: Sequence[str] = ()
    ) -> Statement | None:
        draw, language = self._draw, material.language
        plain = Statement(said, window.text, language, True, kind, window.evidence)
        if is_true and draw.random() > EXCHANGED_IN_BOTH:
            return plain
        made: Made | None = make_false(said, material, draw, others if kind == "close" else ())
        if made is None:
            return None
        if not is_true:
            return Statement(made.text, window.text, language, False, made.kind)
        if not made.exchanged or not all(old in window.text for old, _ in made.exchanged):
            return plain
        text, evidence = (exchange(part, made.exchanged) for part in (window.text, window.evidence))
        return Statement(made.text, text, language, True, f"{kind}, both", evidence)

    def _two(
        self, said: str, neighbours: Sequence[str], material: Material, window: str, is_true: bool, same: bool
    ) -> Statement | None:
        draw = self._draw
        if not same:
            return None
        second = draw.choice(neighbours)
        if not is_true:
            made = make_false(second, material, draw)
            if made is None:
                return None
            second = made.text
        both = [said, second]
        draw.shuffle(both)
        return Statement(" ".join(both), window, material.language, is_true, "two")

    def _elsewhere(self, number: int, said: str, language: str) -> Statement | None:
        """Return the statement with another passage: true only if that is a twin, which is left out."""
        group = self._groups[self._corpus.passages[number].group]
        near = [other for question in self._questions[number][:4] for other in question.near[:4]]
        other = self._draw.choice(near or group)
        if other == number or other in self._twins.get(number, ()):
            return None
        own = sentences_of(self._corpus.passages[other])
        if not own:
            return None
        window = _window(own, self._draw.randrange(len(own)), self._draw, self._length)
        marks = {*names_of(said), *NUMBER.findall(said)}
        if not marks or all(mark in window for mark in marks):
            return None
        return Statement(said, window, language, False, "elsewhere")

    def _asked(self, number: int, passage: Passage) -> Statement | None:
        """Make a statement of a question with its answer, or with another one."""
        draw = self._draw
        questions = [q for q in self._questions[number] if q.answers and q.has_span]
        if not questions:
            return None
        question = draw.choice(questions)
        start, end = draw.choice(question.answers)
        own, spans = sentences_of(passage), passage.sentences
        starts = [int(passage.tokens.starts[first]) for first, last in spans if last > first]
        at = max((place for place, begin in enumerate(starts) if begin <= start), default=0)
        if at >= len(own) or end - start > LONGEST_ANSWER:
            return None
        window = _window(own, at, draw, self._length)
        answer = passage.text[start:end]
        if answer not in window:
            return None
        asked, language = question.text, question.language
        if question.translations and draw.random() < 0.4:
            spoken = {key: value for key, value in question.translations.items() if key in SPOKEN}
            if spoken:
                language, asked = draw.choice(sorted(spoken.items()))
        is_true = draw.random() < 0.5
        kind = "answer"
        if not is_true:
            kind = "another answer"
            wrong = self._another_answer(question, questions, answer, window)
            if wrong is None:
                return None
            answer = wrong
        sides = words_of(language).answers
        text = declarative(asked, answer, language, passage.text, sides, draw)
        if is_true and draw.random() < EXCHANGED_IN_BOTH:
            material = self._material(passage, window, language)
            return self._true_or_false(text, material, Window(window, own[at]), True, kind)
        return Statement(text, window, language, is_true, kind, own[at])

    def _another_answer(
        self, question: Question, questions: Sequence[Question], answer: str, window: str
    ) -> str | None:
        """Return another answer of the same form: a number for a number, a name for a name."""
        is_number = any(letter.isdigit() for letter in answer)
        others = [text for other in questions if other is not question for text in other.texts]
        others += NUMBER.findall(window) if is_number else names_of(window) if answer[:1].isupper() else []
        known = " ".join(question.texts).lower()
        free = [
            other
            for other in dict.fromkeys(others)
            if other.lower() not in known
            and answer.lower() not in other.lower()
            and other not in question.text
            and any(letter.isdigit() for letter in other) == is_number
            and len(other) <= LONGEST_ANSWER
        ]
        return self._draw.choice(free) if free else None

    def _material(self, passage: Passage, window: str, language: str) -> Material:
        group = self._groups[passage.group]
        others = [self._corpus.passages[self._draw.choice(group)].text for _ in range(2)]
        names = [name for text in others for name in names_of(text)]
        return Material(window, language, names, self._similar.get(language, {}))

    def _length(self, text: str) -> int:
        return len(tokens_of(text, self._tokenizer).ids)


def sentences_of(passage: Passage) -> list[str]:
    """Return the sentences of a passage."""
    tokens = passage.tokens
    return [passage.text[int(tokens.starts[a]) : int(tokens.ends[b - 1])] for a, b in passage.sentences if b > a]


def counterpart(own: Sequence[str], at: int, others: Sequence[str]) -> str | None:
    """Return the sentence of another wording that says what a sentence says, by its place, names and numbers."""
    marks = {*names_of(own[at]), *NUMBER.findall(own[at])}
    if len(own) == len(others):
        near = [at]
    else:
        middle = round(at * len(others) / len(own))
        near = [place for place in (middle, middle - 1, middle + 1) if 0 <= place < len(others)]
    for place in near:
        said = others[place]
        size = len(said) / len(own[at])
        shared = sum(mark in said for mark in marks)
        enough = shared >= 0.5 * len(marks) if len(own) == len(others) else marks and shared >= 0.7 * len(marks)
        if 0.6 < size < 1.7 and enough:
            return said
    return None


def twins(corpus: Corpus) -> dict[int, list[int]]:
    """Return the passages that say the same in other words or another language, by passage."""
    found: dict[int, list[int]] = defaultdict(list)
    by_key: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for question in corpus.questions:
        if question.key:
            by_key[question.source.split("/")[0], question.key][question.language] = question.passage
    for numbers in by_key.values():
        spoken = [number for language, number in numbers.items() if language in SPOKEN]
        for number in spoken:
            found[number] += [other for other in spoken if other != number]
    for first, second in _paraphrases(corpus):
        found[first].append(second)
        found[second].append(first)
    return found


def _paraphrases(corpus: Corpus) -> Iterator[tuple[int, int]]:
    """Yield the English originals with their back-translations: those that share half of all names and numbers."""
    translated = {q.passage for q in corpus.questions if q.source == "squad2_backtranslated_en"}
    originals = {q.passage for q in corpus.questions if q.source in ("squad1_train_du", "squad2_train_10")}
    marks = {n: _marks(corpus.passages[n].text) for n in translated | originals}
    having: dict[str, list[int]] = defaultdict(list)
    for number in translated:
        for mark in marks[number]:
            having[mark].append(number)
    for number in originals:
        counts: dict[int, float] = defaultdict(float)
        for mark in marks[number]:
            for other in having[mark] if len(having[mark]) < 400 else ():
                counts[other] += 1 / np.log(2 + len(having[mark]))
        if counts:
            best = max(counts, key=lambda other: counts[other])
            shared = len(marks[number] & marks[best]) / len(marks[number] | marks[best])
            if shared > SAME_PARAGRAPH and corpus.passages[number].text != corpus.passages[best].text:
                yield number, best


def _marks(text: str) -> set[str]:
    return {*NUMBER.findall(text), *(word for name in names_of(text) for word in name.split() if len(word) > 3)}


def _window(sentences: Sequence[str], at: int, draw: random.Random, length: Callable[[str], int]) -> str:
    """Return the sentence with neighbours, joined as they stood, up to a random part of `WINDOW` tokens."""
    room = draw.choice((WINDOW, WINDOW, WINDOW * 2 // 3, WINDOW // 3))
    low = high = at
    size = length(sentences[at])
    while True:
        sides = [side for side in (low - 1, high + 1) if 0 <= side < len(sentences)]
        draw.shuffle(sides)
        for side in sides:
            more = length(sentences[side])
            if size + more <= room:
                size += more
                low, high = min(low, side), max(high, side)
                break
        else:
            return " ".join(sentences[low : high + 1])


def _similar_words(words: dict[str, list[str]], vectors: dict[str, FloatArray]) -> dict[str, dict[str, list[str]]]:
    """Return words of the same language that are near, but not other forms of the word."""
    found: dict[str, dict[str, list[str]]] = {}
    for language in SPOKEN:
        own, rows = words.get(language, []), vectors.get(language)
        if rows is None:
            continue
        cosines = rows @ rows.T
        nearest = np.argsort(-cosines, axis=1)[:, 1 : MOST_SIMILAR + 1]
        found[language] = {
            word: others
            for row, word in enumerate(own)
            if (
                others := [
                    own[place]
                    for place in nearest[row]
                    if SIMILAR[0] <= cosines[row, place] <= SIMILAR[1] and own[place][:4] != word[:4]
                ]
            )
        }
    return found
