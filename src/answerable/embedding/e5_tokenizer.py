"""Text → token ids of multilingual-e5-small: its normalisation map, then SentencePiece with its vocabulary."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

import sentencepiece

from answerable.embedding.e5_weights import ModelFile
from answerable.text.characters import sendable

_SPACES = re.compile(" {2,}")


class Tokenizer:
    """Tokenizes with the model's vocabulary, which takes about .6 s of CPU time to load."""

    def __init__(self, model: ModelFile) -> None:
        self._normalization = model.normalization
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=_model_proto(model))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, without begin and end tokens."""
        ids: list[list[int]] = self._processor.encode([self.normalize(text) for text in texts], num_threads=1)
        return ids

    def normalize(self, text: str) -> str:
        """Normalise a text for the vocabulary; lone surrogates and NULs are replaced."""
        return _SPACES.sub(" ", sendable(text).translate(self._normalization)).strip()


def _model_proto(model: ModelFile) -> bytes:
    """Serialise the vocabulary as SentencePiece's ModelProto (sentencepiece_model.proto, Apache-2.0)."""
    blob, offsets, scores = model.piece_bytes, model.piece_offsets.tolist(), model.piece_scores.tobytes()
    pieces = []
    for index in range(len(offsets) - 1):
        piece = blob[offsets[index] : offsets[index + 1]]
        score = scores[4 * index : 4 * index + 4]
        kind = (
            b"\x18\x02"
            if index == model.unknown
            else b"\x18\x03"
            if index in (model.bos, model.eos, model.pad)
            else b""
        )
        body = b"\x0a" + bytes((len(piece),)) + piece + b"\x15" + score + kind
        pieces.append(b"\x0a" + bytes((len(body),)) + body)
    trainer = b"\x18\x01" + b"".join(
        struct.pack("<H", key) + bytes((value,))
        for key, value in ((0x02C0, model.unknown), (0x02C8, model.bos), (0x02D0, model.eos), (0x02D8, model.pad))
    )
    normalizer = b"\x0a\x08identity" + b"\x18\x01\x20\x01\x28\x01"
    return (
        b"".join(pieces) + b"\x12" + bytes((len(trainer),)) + trainer + b"\x1a" + bytes((len(normalizer),)) + normalizer
    )
