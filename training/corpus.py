"""Questions and passages, tokenised once."""

from __future__ import annotations

import pickle
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from answerable.e5.encoder import Tokenizer, Tokens, tokens_of
from answerable.e5.weights import ModelFile, model_path
from answerable.text.sentences import sentence_spans

Span = tuple[int, int]


@dataclass(slots=True)
class Passage:
    """`sentences` are spans of tokens. `title` may be empty. Near passages of a question are sought in its `group`."""

    text: str
    language: str
    group: str
    title: str
    tokens: Tokens
    sentences: list[Span]


@dataclass(slots=True)
class Question:
    """A question about the passage with the number `passage`.

    `answers` are spans of characters of the passage, and empty if it has no answer; `texts` are the answers as text.
    Questions with one `id` in a set's languages are the same question; `key` names their paragraph. `near` are numbers
    of similar passages without the answer, `translations` the same question by language. The spans are good enough to
    learn from only if `has_span`.
    """

    text: str
    language: str
    passage: int
    answers: list[Span]
    texts: list[str]
    source: str
    key: str = ""
    id: str = ""
    has_span: bool = True
    weight: float = 1.0
    near: list[int] = field(default_factory=list)
    translations: dict[str, str] = field(default_factory=dict)

    def is_answered_by(self, text: str) -> bool:
        """Return whether one of the answers occurs in the text."""
        return occurs(self.texts, text)


@dataclass(slots=True)
class Corpus:
    """`hashes` are the SHA-256 of the files that it was built from."""

    passages: list[Passage] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)


class Builder:
    """Collects a corpus; a passage that occurs twice in a group is kept once."""

    def __init__(self) -> None:
        self.corpus = Corpus()
        self._tokenizer = Tokenizer(ModelFile(model_path()))
        self._numbers: dict[tuple[str, str], int] = {}

    def passage(self, text: str, language: str, group: str, title: str = "") -> int:
        """Return the number of a passage."""
        key = (text, group)
        if key not in self._numbers:
            tokens = tokens_of(text, self._tokenizer)
            self._numbers[key] = len(self.corpus.passages)
            sentences = _token_spans(tokens, sentence_spans(text, language)) or [(0, len(tokens.ids))]
            self.corpus.passages.append(Passage(text, language, group, title, tokens, sentences))
        return self._numbers[key]


def occurs(answers: Collection[str], text: str) -> bool:
    """Return whether the text contains one of the answers, in any case."""
    lower = text.lower()
    return any(answer.lower() in lower for answer in answers if answer)


def save(path: Path, trained: Corpus, held: Corpus) -> None:
    """Write both corpora to a file."""
    path.write_bytes(pickle.dumps((trained, held)))


def load(path: Path) -> tuple[Corpus, Corpus]:
    """Read what `save` has written: the corpus to train on, and the one to measure on."""
    trained, held = pickle.loads(path.read_bytes())
    return trained, held


def _token_spans(tokens: Tokens, spans: list[Span]) -> list[Span]:
    found = []
    for start, end in spans:
        first, last = np.searchsorted(tokens.starts, (start, end)).tolist()
        if last > first:
            found.append((first, last))
    return found
