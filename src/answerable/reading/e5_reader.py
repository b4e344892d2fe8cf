"""The packaged reader: an extractive reader (Devlin et al. 2019) with the encoder of multilingual-e5-small.

Question and window are one sequence, so that each word of one attends to each word of the other. The state of the
first token says whether the window answers; each token's state, whether the answer starts or ends there. How the
weights were trained: `training/`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.e5.encoder import OpenVinoEncoder, linear, pooled
from answerable.e5.integers import Integers, rounded
from answerable.e5.model_file import ModelFile, model_path, open_model
from answerable.e5.tokenizer import Tokenizer, tokenizer_of
from answerable.errors import EmbeddingError
from answerable.protocols import Reading
from answerable.reading.tokens import Tokens, tokens_of
from answerable.reading.weights import ReaderWeights

NAME = "answerable-reader"
WINDOW = 112
QUESTION = 48
HEADER = 40
LONGEST_ANSWER = 30


class E5Reader:
    """Reads on this machine with OpenVINO. Safe to share between threads; one call is computed at a time.

    `threads` and `cache_folder` are those of the embedder.
    """

    def __init__(
        self, threads: int = 0, cache_folder: Path | None = None, weights: ReaderWeights | None = None
    ) -> None:
        self._threads = threads
        self._cache_folder = cache_folder
        self._given = weights
        self._lock = threading.Lock()

    def __str__(self) -> str:
        """The model and how many examples it was trained on."""
        return f"{NAME}, trained on {self._own.about['examples']:,} examples"

    def read(self, question: str, windows: Sequence[str]) -> list[Reading]:
        """Read each window together with the question.

        At most `QUESTION` and `WINDOW + HEADER` tokens are read; the rest is ignored.
        """
        if not windows:
            return []
        with self._lock:
            model, tokenizer = self._model, self._tokenizer
            asked = tokens_of(question, tokenizer).ids[:QUESTION].tolist()
            head = [model.bos, *asked, model.eos, model.eos]
            read = [_shortened(tokens_of(window, tokenizer)) for window in windows]
            (answers, spans), _ = self._encoder.results([[*head, *tokens.ids.tolist(), model.eos] for tokens in read])
        return [
            _reading(float(logit[0]), tokens, scores[len(head) : len(head) + len(tokens.ids)])
            for logit, scores, tokens in zip(answers, spans, read, strict=True)
        ]

    @cached_property
    def _own(self) -> ReaderWeights:
        return self._given or ReaderWeights()

    @cached_property
    def _model(self) -> ModelFile:
        return open_model(model_path())

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._model)

    @cached_property
    def _encoder(self) -> OpenVinoEncoder:
        own = self._own

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


def _shortened(tokens: Tokens) -> Tokens:
    kept = slice(WINDOW + HEADER)
    return Tokens(tokens.ids[kept], tokens.starts[kept], tokens.ends[kept])


def _reading(logit: float, tokens: Tokens, scores: FloatArray) -> Reading:
    """Make a reading of a window from its logits of starts and ends, shape (tokens, 2)."""
    if not len(tokens.ids):
        return Reading(logit, 0, 0, tokens.starts, np.zeros(0, np.float32))
    both = scores[:, 0, None] + scores[None, :, 1]
    allowed = np.triu(np.ones_like(both, bool)) & ~np.triu(np.ones_like(both, bool), LONGEST_ANSWER)
    first, last = divmod(int(np.argmax(np.where(allowed, both, -np.inf))), len(scores))
    likely = np.exp(scores[:, 0] - scores[:, 0].max())
    return Reading(logit, int(tokens.starts[first]), int(tokens.ends[last]), tokens.starts, likely / likely.sum())
