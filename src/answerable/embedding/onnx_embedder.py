"""Embed with any sentence-embedding model that was exported to ONNX with its tokenizer, offline and without PyTorch."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from answerable.datatypes import FloatArray, Span
from answerable.embedding.onnx_folder import OnnxFolder, Pooling, read_folder
from answerable.embedding.onnx_graph import OnnxGraph
from answerable.embedding.vectors import means_of_windows, normalised, spans_as_texts
from answerable.errors import EmbeddingError, MissingPackage
from answerable.protocols import Fingerprint, Passage, PassageVectors
from answerable.providers.calling import quoted
from answerable.text.characters import sendable


class _Tokens(NamedTuple):
    """A text's token ids without special ones, and the span of each in the text; its prefix begins before 0."""

    ids: list[int]
    spans: list[Span]


class OnnxEmbedder:
    """Embeds with a model in a folder (see docs/embedders.md), on OpenVINO. Safe to share between threads.

    `pooling` is "mean", "cls", "max" or "last"; it and the prefixes are read from the folder's files where they are
    empty. A text over the model's limit becomes the mean of its windows, weighted by tokens. With mean pooling a span's
    vector is the mean of its tokens in their context ("late chunking", Günther et al. 2024, arXiv:2409.04701),
    otherwise spans are embedded as separate texts. `threads` limits the processors (0: all). Raises MissingPackage
    without the package tokenizers, and EmbeddingError if a file is missing, damaged, or no such model.
    """

    def __init__(
        self,
        folder: str | Path,
        pooling: str = "",
        query_prefix: str = "",
        passage_prefix: str = "",
        threads: int = 0,
    ) -> None:
        self._place = Path(folder)
        self._given = pooling, query_prefix, passage_prefix
        self._threads = threads
        self._lock = threading.RLock()

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The folder's name and a hash of the model, its tokenizer, pooling and prefixes."""
        with self._lock:
            # Loading the model takes long; whoever only lists documents doesn't need it.
            dimension = self._folder.dimension or self._run([self._window([])])[0].shape[-1]
            return Fingerprint("onnx", self._folder.name, dimension, self._folder.revision())

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed texts to be searched, in this order."""
        prefix = self._folder.prefixes[1]
        with self._lock:
            if not self._has_late_spans:
                return spans_as_texts(passages, lambda texts: self._embed(texts, prefix))
            read = [self._read(passage.text, prefix) for passage in passages]
            states = self._token_states(read)
            return [
                PassageVectors(whole, _of_spans(passage.spans, tokens, vectors))
                for passage, tokens, (whole, vectors) in zip(passages, read, states, strict=True)
            ]

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question, shape (dimension,)."""
        with self._lock:
            vector: FloatArray = self._embed([text], self._folder.prefixes[0])[0]
            return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens of each text, without prefix and special tokens."""
        with self._lock:
            return [len(self._read(text, "").ids) for text in texts]

    def cost(self, tokens: int) -> float:
        """Return 0."""
        return 0.0

    def _embed(self, texts: Sequence[str], prefix: str) -> FloatArray:
        """Return L2-normalised vectors, shape (number of texts, dimension)."""
        cut = [
            (owner, window) for owner, text in enumerate(texts) for window in self._cut(self._read(text, prefix).ids)
        ]
        rows = self._run([self._window(ids) for _, ids in cut])
        vectors = (self._pooled(row) for row in rows)
        weights = [(owner, max(len(ids), 1)) for owner, ids in cut]
        return means_of_windows(weights, vectors, (len(texts), self.fingerprint.dimension))

    def _token_states(self, read: Sequence[_Tokens]) -> list[tuple[FloatArray, FloatArray]]:
        """Return each text's vector, and the states of its tokens without special ones."""
        cut = [(owner, ids) for owner, tokens in enumerate(read) for ids in self._cut(tokens.ids)]
        rows = self._run([self._window(ids) for _, ids in cut])
        weights = [(owner, max(len(ids), 1)) for owner, ids in cut]
        shape = len(read), self.fingerprint.dimension
        wholes = means_of_windows(weights, (row.mean(axis=0) for row in rows), shape)
        begin = len(self._special[0])
        states: list[list[FloatArray]] = [[] for _ in read]
        for (owner, ids), row in zip(cut, rows, strict=True):
            states[owner].append(row[begin : begin + len(ids)])
        return [(whole, np.concatenate(parts)) for whole, parts in zip(wholes, states, strict=True)]

    def _run(self, windows: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return for each window the states of its tokens, shape (tokens, dimension), or its vector."""
        found = self._graph.run(windows, self._padding, self._result)
        if found and self._folder.dimension not in (0, found[0].shape[-1]):
            raise EmbeddingError(
                f"{self._folder.model} gives vectors of {found[0].shape[-1]} dimensions, but its folder says "
                f"{self._folder.dimension}. Copy the model's folder again."
            )
        return found

    def _pooled(self, row: FloatArray) -> FloatArray:
        """Return the vector of a window's tokens."""
        if row.ndim == 1:
            return row
        pooling = self._folder.pooling
        vector: FloatArray
        if pooling is Pooling.MEAN:
            vector = row.mean(axis=0)
        elif pooling is Pooling.MAX:
            vector = row.max(axis=0)
        else:
            vector = row[0 if pooling is Pooling.CLS else -1]
        return vector

    @property
    def _has_late_spans(self) -> bool:
        return self._folder.pooling is Pooling.MEAN and self._result == self._graph.tokens

    @cached_property
    def _result(self) -> int:
        """The number of the model's result that is used: of texts where it pools them in a way of its own."""
        graph, folder, is_set = self._graph, self._folder, bool(self._given[0])
        pools_itself = graph.tokens is None or folder.is_whole or folder.pooling is not Pooling.MEAN
        if graph.whole is not None and pools_itself and not is_set:
            return graph.whole
        if graph.tokens is None:
            raise EmbeddingError(f"{folder.model} pools its tokens itself. Leave the setting onnx_pooling empty.")
        if folder.is_whole:
            raise EmbeddingError(
                f"{folder.model} lacks the layers after the pooling that its modules.json names. Export the whole "
                "model, with the result sentence_embedding."
            )
        if folder.pooling is None:
            raise EmbeddingError(
                f"{folder.model.parent} doesn't say how the vectors of tokens are pooled. Copy the model's folder "
                "1_Pooling there, or set onnx_pooling to mean, cls, max or last, as the model's page says."
            )
        return graph.tokens

    def _read(self, text: str, prefix: str) -> _Tokens:
        tokenizer = self._tokenizer
        with self._tokenizing():
            encoding = tokenizer.encode(prefix + sendable(text), add_special_tokens=False)
        return _Tokens(encoding.ids, [(start - len(prefix), end - len(prefix)) for start, end in encoding.offsets])

    def _cut(self, ids: list[int]) -> list[list[int]]:
        size = max(self._folder.most_tokens - sum(map(len, self._special)), 1)
        return [ids[start : start + size] for start in range(0, max(len(ids), 1), size)]

    def _window(self, ids: Sequence[int]) -> list[int]:
        begin, end = self._special
        # A model without special tokens can't read nothing.
        return [*begin, *ids, *end] or [self._padding]

    @cached_property
    def _special(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after a text."""
        tokenizer = self._tokenizer
        with self._tokenizing():
            marked = tokenizer.encode("a")
        plain = [number for number, is_special in enumerate(marked.special_tokens_mask) if not is_special] or [0]
        return marked.ids[: plain[0]], marked.ids[plain[-1] + 1 :]

    @cached_property
    def _padding(self) -> int:
        if self._folder.padding is not None:
            return self._folder.padding
        known = (self._tokenizer.token_to_id(name) for name in ("<pad>", "[PAD]"))
        return next((each for each in known if each is not None), 0)

    @cached_property
    def _folder(self) -> OnnxFolder:
        return read_folder(self._place, *self._given)

    @cached_property
    def _graph(self) -> OnnxGraph:
        return OnnxGraph(self._folder.model, self._threads)

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingPackage("This embedder needs the package tokenizers", "onnx") from error
        with self._tokenizing():
            tokenizer = Tokenizer.from_file(str(self._folder.tokenizer))
            # Texts are cut and padded here.
            tokenizer.no_truncation()
            tokenizer.no_padding()
        return tokenizer

    @contextmanager
    def _tokenizing(self) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # A panic of the library, which is in Rust, is no Exception.
            raise EmbeddingError(
                f"{self._folder.tokenizer} can't be read ({quoted(str(error))}). Copy the model's tokenizer.json again."
            ) from error


def _of_spans(spans: Sequence[Span], tokens: _Tokens, vectors: FloatArray) -> FloatArray:
    """Return the mean of each span's tokens, length 1, shape (spans, dimension); zeros for a span without tokens."""
    pooled = np.zeros((len(spans), vectors.shape[1]), np.float32)
    places = np.array(tokens.spans, np.int64).reshape(-1, 2)
    for number, (start, end) in enumerate(spans):
        inside = (places[:, 0] < end) & (places[:, 1] > start) & (places[:, 1] > places[:, 0])
        if inside.any():
            pooled[number] = vectors[inside].mean(axis=0)
    return normalised(pooled)
