"""The packaged reader model: does a passage answer a question, and with which words?

Both texts are read as one sequence, so that each word of one text attends to each word of the other. The encoder is
multilingual-e5-small's (Wang et al. 2024), trained further: see `training/`. The first token's state gives one logit
for the pair; each token's state gives two logits, that a span starts or ends there (Devlin et al. 2019). The languages
are English, Spanish and Portuguese, also if the two texts differ in language.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.e5.encoder import OpenVinoEncoder, Tokenizer, Tokens, linear, pooled, tokenizer_of, tokens_of
from answerable.e5.weights import Integers, ModelFile, ReaderWeights, model_path, open_model, rounded
from answerable.errors import EmbeddingError
from answerable.protocols import Reading, TableReading


@dataclass(frozen=True, slots=True, eq=False)
class PairReading:
    """The logits of a pair, the tokens read of its second text, and their logits: shape (tokens, n)."""

    logits: FloatArray
    tokens: Tokens
    scores: FloatArray


class PairReader:
    """Reads pairs of texts on this machine with OpenVINO. Safe to share between threads.

    `weights` is the name of a packaged weights file, or the weights. `lengths` are the maximum numbers of tokens read
    of the first and of the second text; the rest is ignored. `threads` and `cache_folder` are as for the embedder.
    """

    def __init__(
        self,
        weights: str | ReaderWeights,
        lengths: tuple[int, int],
        threads: int = 0,
        cache_folder: Path | None = None,
    ) -> None:
        self._given = weights
        self._lengths = lengths
        self._threads = threads
        self._cache_folder = cache_folder
        self._lock = threading.Lock()

    @cached_property
    def weights(self) -> ReaderWeights:
        """The weights. Raises EmbeddingError if the file can't be read."""
        return ReaderWeights(self._given) if isinstance(self._given, str) else self._given

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading]:
        """Read pairs of texts. Raises EmbeddingError if OpenVINO doesn't run here."""
        with self._lock:
            model, tokenizer = self._model, self._tokenizer
            before, most = self._lengths
            sequences = []
            for first, second in pairs:
                head = [model.bos, *tokens_of(first, tokenizer).ids[:before].tolist(), model.eos, model.eos]
                tokens = _beginning(tokens_of(second, tokenizer), most)
                sequences.append((len(head), tokens, [*head, *tokens.ids.tolist(), model.eos]))
            encoder = self._encoder
        results = encoder.results([ids for _, _, ids in sequences])
        return [
            PairReading(logits, tokens, scores[size : size + len(tokens.ids)])
            for (size, tokens, _), (logits, scores) in zip(sequences, results, strict=True)
        ]

    @cached_property
    def _model(self) -> ModelFile:
        return open_model(model_path())

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._model)

    @cached_property
    def _encoder(self) -> OpenVinoEncoder:
        def tensor(name: str) -> FloatArray | Integers:
            if name in self.weights:
                return self.weights.tensor(name)
            # The first layers are the same as the embedder's.
            values = self._model.tensor(name)
            return values if values.ndim < 2 else rounded(values)

        def heads(state: Any) -> list[Any]:
            return [linear(pooled(state, tensor, "pool"), tensor, "answers"), linear(state, tensor, "span")]

        try:
            made_of = (__file__, str(Path(__file__).with_name(self._given))) if isinstance(self._given, str) else ()
            cache_folder = self._cache_folder if made_of else None
            return OpenVinoEncoder(self._model, self._threads, cache_folder, tensor, heads, made_of)
        except (ImportError, OSError, RuntimeError) as error:
            raise EmbeddingError(f"The reader doesn't run here ({error}). Set reader to off.") from error


def _beginning(tokens: Tokens, most: int) -> Tokens:
    return Tokens(tokens.ids[:most], tokens.starts[:most], tokens.ends[:most])


class _Packaged:
    """A packaged model: its name, its file, and how many tokens it reads at most of the first and second text."""

    name, file, lengths = "", "", (0, 0)

    def __init__(
        self, threads: int = 0, cache_folder: Path | None = None, weights: ReaderWeights | None = None
    ) -> None:
        self._pairs = PairReader(weights or self.file, self.lengths, threads, cache_folder)

    def __str__(self) -> str:
        """Return the model's name and the number of examples that it was trained on."""
        return f"{self.name}, trained on {self._pairs.weights.about['examples']:,} examples"


WINDOW = 112  # tokens of a window, as in training
QUESTION = 48  # tokens of a question, as in training
HEADER = 40  # tokens of the title and headings above a window, as in training
TABLE = 288  # tokens of a table's text, as in training
LONGEST_ANSWER = 30  # tokens of the words that answer, as in training


class E5Reader(_Packaged):
    """Reads at most `QUESTION` tokens of a question, and `WINDOW + HEADER` of a window. See `PairReader`."""

    name, file, lengths = "answerable-reader", "reader.npz", (QUESTION, WINDOW + HEADER)

    def read(self, question: str, windows: Sequence[str]) -> list[Reading]:
        """Read each window together with the question."""
        return [_reading(found) for found in self._pairs.read([(question, window) for window in windows])]


def _reading(found: PairReading) -> Reading:
    """Turn the logits of starts and ends into a `Reading`."""
    tokens, scores, logit = found.tokens, found.scores, float(found.logits[0])
    if not len(tokens.ids):
        return Reading(logit, 0, 0, tokens.starts, np.zeros(0, np.float32))
    both = scores[:, 0, None] + scores[None, :, 1]
    allowed = np.triu(np.ones_like(both, bool)) & ~np.triu(np.ones_like(both, bool), LONGEST_ANSWER)
    first, last = divmod(int(np.argmax(np.where(allowed, both, -np.inf))), len(scores))
    likely = np.exp(scores[:, 0] - scores[:, 0].max())
    return Reading(logit, int(tokens.starts[first]), int(tokens.ends[last]), tokens.starts, likely / likely.sum())


class E5TableReader(_Packaged):
    """Reads at most `QUESTION` tokens of a question, and `TABLE` of a table. See `PairReader`."""

    name, file, lengths = "answerable-tables", "tables.npz", (QUESTION, TABLE)

    def read(self, question: str, tables: Sequence[str]) -> list[TableReading]:
        """Read each table together with the question."""
        found = self._pairs.read([(question, table) for table in tables])
        return [TableReading(each.logits, each.tokens.starts, each.scores) for each in found]
