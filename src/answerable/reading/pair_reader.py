"""Reads two texts as one sequence, so that each word of one attends to each word of the other.

The encoder is that of multilingual-e5-small (Wang et al. 2024), trained further: see `training/`. The first token's
state gives one logit for the pair; each token's state, two for a span that starts or ends there (Devlin et al. 2019).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True, eq=False)
class PairReading:
    """The logit of a pair, the second text's tokens that were read, and their scores: shape (tokens, 2)."""

    logit: float
    tokens: Tokens
    scores: FloatArray


class PairReader:
    """Reads on this machine with OpenVINO. Safe to share between threads.

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
            PairReading(float(logit[0]), tokens, scores[size : size + len(tokens.ids)])
            for (size, tokens, _), (logit, scores) in zip(sequences, results, strict=True)
        ]

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
            return OpenVinoEncoder(self._model, self._threads, self._cache_folder, tensor, heads)
        except (ImportError, OSError, RuntimeError) as error:
            raise EmbeddingError(f"The reader doesn't run here ({error}). Set reader to off.") from error


def _beginning(tokens: Tokens, most: int) -> Tokens:
    return Tokens(tokens.ids[:most], tokens.starts[:most], tokens.ends[:most])
