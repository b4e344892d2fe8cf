"""Embed with any sentence-embedding model that was exported to ONNX with its tokenizer, offline and without PyTorch.

OpenVINO runs the model: token ids → vectors of tokens, or of whole texts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray, Span
from answerable.e5.network import Network
from answerable.embedding.onnx_folder import OnnxFolder, Pooling, read_folder
from answerable.embedding.vectors import means_of_windows, normalised, spans_as_texts
from answerable.errors import EmbeddingError, MissingPackage
from answerable.protocols import Fingerprint, Passage, PassageVectors
from answerable.providers.calling import quoted
from answerable.text.characters import sendable


class _Tokens(NamedTuple):
    """A text's token ids without special tokens, and each token's span in the text; the prefix has negative offsets."""

    ids: list[int]
    spans: list[Span]


class OnnxEmbedder:
    """Embeds with a model in a folder (see docs/embedders.md), on OpenVINO. Safe to share between threads.

    `pooling` is "mean", "cls", "max" or "last". An empty `pooling` or prefix is read from the folder's files. A text
    over the model's limit becomes the mean of its windows, weighted by tokens. With mean pooling, a span's vector is
    the mean of its tokens in their context ("late chunking", Günther et al. 2024, arXiv:2409.04701); otherwise spans
    are embedded as separate texts. `threads` limits the processors (0: all). Raises MissingPackage without the package
    tokenizers, and EmbeddingError if a file is missing, damaged, or not a sentence-embedding model.
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
            # Don't load the model here: loading takes long, and listing documents doesn't need it.
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
        return self._vectors([self._read(text, prefix) for text in texts])[0]

    def _token_states(self, read: Sequence[_Tokens]) -> list[tuple[FloatArray, FloatArray]]:
        """Return each text's vector, and the states of its tokens without special tokens."""
        wholes, windows = self._vectors(read)
        begin = len(self._special[0])
        states: list[list[FloatArray]] = [[] for _ in read]
        for owner, ids, row in windows:
            states[owner].append(row[begin : begin + len(ids)])
        return [(whole, np.concatenate(parts)) for whole, parts in zip(wholes, states, strict=True)]

    def _vectors(self, read: Sequence[_Tokens]) -> tuple[FloatArray, list[tuple[int, list[int], FloatArray]]]:
        """Return the vectors of texts, and of each window the number of its text, its token ids and its result."""
        cut = [(owner, ids) for owner, tokens in enumerate(read) for ids in self._cut(tokens.ids)]
        rows = self._run([self._window(ids) for _, ids in cut])
        weights = [(owner, max(len(ids), 1)) for owner, ids in cut]
        wholes = means_of_windows(weights, map(self._pooled, rows), (len(read), self.fingerprint.dimension))
        return wholes, [(*window, row) for window, row in zip(cut, rows, strict=True)]

    def _run(self, windows: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Return for each window the states of its tokens, shape (tokens, dimension), or the window's vector."""
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
        """The index of the model output to use: text vectors if the model pools in its own way, else token vectors."""
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
        # A model without special tokens can't read an empty window: give it a padding token.
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
            # This class truncates and pads texts itself.
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
            # The package is in Rust; a panic there raises a BaseException that isn't an Exception.
            raise EmbeddingError(
                f"{self._folder.tokenizer} can't be read ({quoted(str(error))}). Copy the model's tokenizer.json again."
            ) from error


def _of_spans(spans: Sequence[Span], tokens: _Tokens, vectors: FloatArray) -> FloatArray:
    """Return each span's mean token vector, of length 1, shape (spans, dimension); zeros for a span without tokens."""
    pooled = np.zeros((len(spans), vectors.shape[1]), np.float32)
    places = np.array(tokens.spans, np.int64).reshape(-1, 2)
    for number, (start, end) in enumerate(spans):
        inside = (places[:, 0] < end) & (places[:, 1] > start) & (places[:, 1] > places[:, 0])
        if inside.any():
            pooled[number] = vectors[inside].mean(axis=0)
    return normalised(pooled)


MOST_DIMENSIONS = 8192  # twice the largest embedding models' dimension; with more, it isn't an embedding model
_IDS, _MASK, _TYPES, _POSITIONS = "input_ids", "attention_mask", "token_type_ids", "position_ids"
_WHOLE = ("sentence_embedding", "sentence_embeddings", "text_embeds", "embeddings")
_TOKENS = ("last_hidden_state", "token_embeddings", "hidden_states")


class OnnxGraph:
    """A compiled model. It may have the inputs `input_ids`, `attention_mask`, `token_type_ids` and `position_ids`.

    `tokens` and `whole` are the indices of the outputs with a vector for each token and for each text; None if missing.
    Raises EmbeddingError if the file is damaged, refers to files outside its folder, or isn't an embedding model.
    """

    def __init__(self, path: Path, threads: int) -> None:
        self._path = path
        try:
            # Don't cache the compiled model: on disk it would be as large as the model and load no faster.
            self._network = Network(self._read, threads, None)
        except ImportError as error:
            raise EmbeddingError(
                f"Models in ONNX need OpenVINO, which doesn't run here ({error}). Leave the setting embedder on local."
            ) from error
        except Exception as error:
            # OpenVINO's file readers raise errors of their own, which aren't RuntimeErrors.
            raise self._wrong(quoted(" ".join(str(error).split())[-300:])) from error
        network = self._network.compiled
        self._types = {each.any_name: each.element_type.to_dtype() for each in network.inputs}
        if unknown := self._types.keys() - {_IDS, _MASK, _TYPES, _POSITIONS}:
            raise self._wrong(f"it has inputs that aren't tokens: {', '.join(sorted(unknown))}")
        if _IDS not in self._types:
            raise self._wrong(f"it has no input {_IDS}")
        self.whole, self.tokens = _results(network)
        if self.whole is None and self.tokens is None:
            names = ", ".join(f"{_name(each)} {each.partial_shape}" for each in network.outputs)
            raise self._wrong(f"it gives neither vectors of tokens nor of texts, but {names}")

    def run(self, windows: Sequence[Sequence[int]], padding: int, result: int) -> list[FloatArray]:
        """Return output `result` for each window of token ids: of tokens, shape (tokens, dimension), or of the text."""

        def compute(batch: Sequence[Sequence[int]]) -> list[FloatArray]:
            vectors, mask = self._run(batch, padding, result)
            return (
                [one[present] for one, present in zip(vectors, mask, strict=True)] if vectors.ndim == 3 else [*vectors]
            )

        return self._network.each(compute, windows)

    def _run(
        self, windows: Sequence[Sequence[int]], padding: int, result: int
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return a batch's output, and a mask of shape (windows, longest window) that is false for padding."""
        longest = max(map(len, windows))
        ids = np.full((len(windows), longest), padding)
        mask = np.zeros((len(windows), longest), bool)
        for row, window in enumerate(windows):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = True
        places = np.maximum(np.cumsum(mask, axis=1) - 1, 0)
        given = {_IDS: ids, _MASK: mask, _TYPES: np.zeros_like(ids), _POSITIONS: places}
        try:
            found = self._network.infer({name: given[name].astype(kind) for name, kind in self._types.items()})
        except RuntimeError as error:
            raise self._wrong(quoted(" ".join(str(error).split())[-300:])) from error
        vectors: FloatArray = np.asarray(found[result], np.float32)
        expected = mask.shape if result == self.tokens else mask.shape[:1]
        if vectors.shape[:-1] != expected:
            raise self._wrong(f"for {expected} it gives vectors of shape {vectors.shape}")
        if not 1 <= vectors.shape[-1] <= MOST_DIMENSIONS:
            raise self._wrong(f"its vectors have {vectors.shape[-1]} dimensions, more than {MOST_DIMENSIONS}")
        if not np.isfinite(vectors[mask] if result == self.tokens else vectors).all():
            raise self._wrong("its vectors hold what is no number")
        return vectors, mask

    def _read(self, openvino: Any, _: str) -> Any:
        # Load only the ONNX frontend: otherwise OpenVINO would try a file of another format with six other frontends.
        frontend = openvino.frontend.FrontEndManager().load_by_framework("onnx")
        loaded = frontend.load(str(self._path))
        if loaded is None:
            raise RuntimeError("it is no ONNX file")
        graph = frontend.convert(loaded)
        if any(each.partial_shape.rank.is_dynamic or len(each.partial_shape) != 2 for each in graph.inputs):
            raise RuntimeError("its inputs aren't texts of tokens: rows and columns")
        graph.reshape({each.any_name: openvino.PartialShape([-1, -1]) for each in graph.inputs})
        for each in graph.outputs:
            shape = each.partial_shape
            last = shape[len(shape) - 1] if shape.rank.is_static and len(shape) else None
            if last is not None and last.is_static and last.get_length() > MOST_DIMENSIONS:
                raise RuntimeError(f"its vectors have {last.get_length()} dimensions, more than {MOST_DIMENSIONS}")
        return graph

    def _wrong(self, why: str) -> EmbeddingError:
        return EmbeddingError(
            f"{self._path} can't be used as an embedder: {why}. Export the model again, or use another."
        )


def _results(network: Any) -> tuple[int | None, int | None]:
    """Return the indices of the outputs with a vector for each text and for each token, found by name and shape."""
    whole = tokens = None
    for number, each in enumerate(network.outputs):
        rank = len(each.partial_shape) if each.partial_shape.rank.is_static else 0
        if rank == 2 and whole is None and _name(each) in _WHOLE:
            whole = number
        if rank == 3 and (tokens is None or _name(each) in _TOKENS):
            tokens = number
    return whole, tokens


def _name(output: Any) -> str:
    return min(output.names, default="")
