"""Test that the tokenizer of multilingual-e5-small gives SentencePiece's tokens, and which characters they cover."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from answerable.e5.encoder import Tokenizer
from answerable.e5.weights import ModelFile, model_path

ROOT = Path(__file__).parents[2]
TEXTS = {
    "Spanish": "¿Cuándo llegó  Ana-Lucía a Málaga? Llegó el 3 de abril (a las 15:30).",
    "spaces": "  two   spaces\tand\na line ",
    "nothing": "",
    "one long word": "Donaudampfschifffahrtsgesellschaftskapitän" * 5,
    "Chinese": "我们明天下午三点在北京见面,请带上您的护照。",
    "Arabic": "متى يفتح المتحف أبوابه؟",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈 ¡feliz cumpleaños!",
    "unknown characters": "a \ue000\ue001 b\ue002c \U0001f9ff",
    "compatibility forms": "ﬁn ½ Ⅳ ｆｕｌｌ",
    "its own space": "▁a ▁ b▁c",
}


@pytest.fixture(scope="module")
def model() -> ModelFile:
    return ModelFile(model_path())


@pytest.fixture(scope="module")
def tokenizer(model: ModelFile) -> Tokenizer:
    return Tokenizer(model)


@pytest.fixture(scope="module")
def expected(model: ModelFile) -> Callable[[str], list[int]]:
    """SentencePiece's own tokens of a normalised text."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model_proto(model))
    return lambda text: list(processor.encode(text))


def test_the_tokens_are_those_of_sentencepiece(tokenizer: Tokenizer, expected: Callable[[str], list[int]]) -> None:
    failed = [
        (name, got)
        for name in TEXTS
        if (got := tokenizer.encode([TEXTS[name]])) != [expected(tokenizer.normalize(TEXTS[name]))]
    ]
    assert failed == []


def test_the_projects_own_pages_too(tokenizer: Tokenizer, expected: Callable[[str], list[int]]) -> None:
    pages = [path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md"))]
    lines = [line for page in pages for line in page.splitlines()]
    assert len(lines) > 1000
    assert tokenizer.encode(lines) == [expected(tokenizer.normalize(line)) for line in lines]


@given(text=st.text(max_size=200))
def test_whatever_the_text(tokenizer: Tokenizer, expected: Callable[[str], list[int]], text: str) -> None:
    normal = tokenizer.normalize(text)
    spans = list(tokenizer.spans(normal))
    assert [token for token, _, _ in spans] == expected(normal)
    assert all(0 <= start <= end <= len(normal) for _, start, end in spans)
    assert "".join(normal[start:end] for _, start, end in spans) == normal.replace(" ", "")


def model_proto(model: ModelFile) -> bytes:
    """The vocabulary as SentencePiece's ModelProto (sentencepiece_model.proto, Apache-2.0)."""
    pieces = []
    vocabulary = model.piece_bytes
    for index, (start, end) in enumerate(itertools.pairwise(model.piece_offsets.tolist())):
        piece = vocabulary[start:end]
        special = {model.unknown: 2, model.bos: 3, model.eos: 3, model.pad: 3}
        kind = bytes((0x18, special[index])) if index in special else b""
        body = b"\x0a" + bytes((len(piece),)) + piece + b"\x15" + struct.pack("<f", model.piece_scores[index]) + kind
        pieces.append(b"\x0a" + bytes((len(body),)) + body)
    numbers = ((0x02C0, model.unknown), (0x02C8, model.bos), (0x02D0, model.eos), (0x02D8, model.pad))
    trainer = b"\x18\x01" + b"".join(struct.pack("<H", key) + bytes((value,)) for key, value in numbers)
    normalizer = b"\x0a\x08identity\x18\x01\x20\x01\x28\x01"
    parts = (b"\x12" + bytes((len(trainer),)) + trainer, b"\x1a" + bytes((len(normalizer),)) + normalizer)
    return b"".join((*pieces, *parts))
