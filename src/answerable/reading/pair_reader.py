"""Reads two texts as one sequence, so that each word of one attends to each word of the other.

The encoder is that of multilingual-e5-small (Wang et al. 2024), trained further: see `training/`. The first token's
state gives one logit for the pair; each token's state, two for a span that starts or ends there (Devlin et al. 2019).
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from answerable.datatypes import FloatArray
from answerable.e5.encoder import OpenVinoEncoder, linear, pooled
from answerable.e5.integers import Integers, rounded
from answerable.e5.model_file import ModelFile, model_path, open_model
from answerable.e5.tokenizer import Tokenizer, tokenizer_of
from answerable.errors import EmbeddingError
from answerable.reading.tokens import Tokens, tokens_of
from answerable.reading.weights import ReaderWeights
from answerable.sharing import Lanes

BATCH = 8
LANES = 4
"""Into how many parts the processors are divided at most: a thread of a few tokens gains little by another."""


@dataclass(frozen=True, slots=True, eq=False)
class PairReading:
    """The logit of a pair, the second text's tokens that were read, and their scores: shape (tokens, 2)."""

    logit: float
    tokens: Tokens
    scores: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Sequence:
    """The token ids of a pair, and where in them the second text's tokens begin."""

    begin: int
    tokens: Tokens
    ids: list[int]

    def reading(self, logit: FloatArray, scores: FloatArray) -> PairReading:
        return PairReading(float(logit[0]), self.tokens, scores[self.begin : self.begin + len(self.tokens.ids)])


class PairReader:
    """Reads on this machine with OpenVINO. Safe to share between threads.

    A call is divided among the processors, each reading some of its pairs: threads that shared each step of the network
    would wait for each other after each. The calls of several threads take turns (see `Lanes`).

    `weights` is the name of a packaged file of weights, or the weights. `lengths` are the most tokens that are read of
    the first and of the second text; the rest is ignored. `threads` and `cache_folder` are those of the embedder.
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
        self._lanes = Lanes(min(threads or _processors(), LANES))

    @cached_property
    def weights(self) -> ReaderWeights:
        """The weights. Raises EmbeddingError if the file can't be read."""
        return ReaderWeights(self._given) if isinstance(self._given, str) else self._given

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading]:
        """Read pairs of texts. Raises EmbeddingError if OpenVINO doesn't run here."""
        with self._lock:
            # Only the first call loads them.
            encoder, sequences = self._encoder, list(self._sequences(pairs))
        order = sorted(range(len(pairs)), key=lambda number: len(sequences[number].ids))
        batches = [
            ([sequences[number].ids for number in part], len(part) * len(sequences[part[-1]].ids))
            for part in parts(order, self._lanes.count)
        ]
        read = self._lanes.run_all(encoder.results, batches)
        rows = (row for (logits, scores), _ in read for row in zip(logits, scores, strict=True))
        found = {
            number: sequences[number].reading(logit, scores)
            for number, (logit, scores) in zip(order, rows, strict=True)
        }
        return [found[number] for number in range(len(pairs))]

    def _sequences(self, pairs: Sequence[tuple[str, str]]) -> Iterator[_Sequence]:
        model, (before, most) = self._model, self._lengths
        for first, second in pairs:
            head = [model.bos, *tokens_of(first, self._tokenizer).ids[:before].tolist(), model.eos, model.eos]
            tokens = _beginning(tokens_of(second, self._tokenizer), most)
            yield _Sequence(len(head), tokens, [*head, *tokens.ids.tolist(), model.eos])

    @cached_property
    def _model(self) -> ModelFile:
        return open_model(model_path())

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._model)

    @cached_property
    def _encoder(self) -> OpenVinoEncoder:
        own = self.weights

        def tensor(name: str) -> FloatArray | Integers:
            if name in own:
                return own.tensor(name)
            # The first layers are the embedder's.
            values = self._model.tensor(name)
            return values if values.ndim < 2 else rounded(values)

        def heads(state: Any) -> list[Any]:
            return [linear(pooled(state, tensor, "pool"), tensor, "answers"), linear(state, tensor, "span")]

        try:
            own_folder, streams = self._cache_folder, self._lanes.count
            return OpenVinoEncoder(self._model, self._threads, own_folder, tensor, heads, streams)
        except (ImportError, OSError, RuntimeError) as error:
            raise EmbeddingError(f"The reader doesn't run here ({error}). Set reader to off.") from error


def parts(order: Sequence[int], lanes: int) -> list[Sequence[int]]:
    """Cut a list into parts of at most `BATCH`, as many for each lane, and of about the same size."""
    rounds = -(-len(order) // (BATCH * lanes))
    count = min(rounds * lanes, len(order))
    cuts = [number * len(order) // count for number in range(count + 1)] if count else [0]
    # The first are the shorter sequences: those are the longer parts.
    cuts = [len(order) - cut for cut in reversed(cuts)]
    return [order[start:end] for start, end in itertools.pairwise(cuts)]


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _beginning(tokens: Tokens, most: int) -> Tokens:
    return Tokens(tokens.ids[:most], tokens.starts[:most], tokens.ends[:most])
