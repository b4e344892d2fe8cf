"""Run a sentence-embedding model in ONNX with OpenVINO: token ids → vectors of tokens, or of whole texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from answerable.compiling import Network
from answerable.datatypes import FloatArray
from answerable.errors import EmbeddingError
from answerable.providers.calling import quoted

MOST_DIMENSIONS = 8192
_IDS, _MASK, _TYPES, _POSITIONS = "input_ids", "attention_mask", "token_type_ids", "position_ids"
_WHOLE = ("sentence_embedding", "sentence_embeddings", "text_embeds", "embeddings")
_TOKENS = ("last_hidden_state", "token_embeddings", "hidden_states")


class OnnxGraph:
    """A compiled model. It may have the inputs `input_ids`, `attention_mask`, `token_type_ids` and `position_ids`.

    `tokens` and `whole` are its results with a vector for each token and for each text, None if it has none. Raises
    EmbeddingError if the file is damaged, refers to files outside its folder, or isn't such a model.
    """

    def __init__(self, path: Path, threads: int) -> None:
        self._path = path
        try:
            # A compiled copy on the disk would be as large as the model and load no faster.
            self._network = Network(self._read, threads, None)
        except ImportError as error:
            raise EmbeddingError(
                f"Models in ONNX need OpenVINO, which doesn't run here ({error}). Leave the setting embedder on local."
            ) from error
        except Exception as error:
            # OpenVINO's readers have errors of their own, which are no RuntimeErrors.
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
        """Return a result for each window of token ids: of tokens, shape (tokens, dimension), or of the text."""

        def compute(batch: Sequence[Sequence[int]]) -> list[FloatArray]:
            vectors, mask = self._run(batch, padding, result)
            return (
                [one[present] for one, present in zip(vectors, mask, strict=True)] if vectors.ndim == 3 else [*vectors]
            )

        return self._network.each(compute, windows)

    def _run(
        self, windows: Sequence[Sequence[int]], padding: int, result: int
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return a batch's result, and a mask of shape (windows, longest) that is false for padding."""
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
        # By this frontend only: a file of another format would be tried by six others.
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
    """Return the numbers of the results with a vector for each text and for each token, by name and shape."""
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
