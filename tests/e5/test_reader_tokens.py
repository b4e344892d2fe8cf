"""Test which characters of a text each token covers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.e5.encoder import Tokenizer, tokens_of
from answerable.e5.weights import ModelFile, model_path


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(ModelFile(model_path()))


def covered(text: str, tokenizer: Tokenizer) -> list[str]:
    """The text of each token."""
    found = tokens_of(text, tokenizer)
    return [text[start:end] for start, end in zip(found.starts, found.ends, strict=True)]


def test_tokens_cover_their_characters_in_the_text_as_given(tokenizer: Tokenizer) -> None:
    assert covered("¿Cuándo  llegó\tAna?", tokenizer) == ["¿", "Cu", "á", "ndo", "llegó", "Ana", "?"]


def test_a_character_that_becomes_several_is_covered_whole(tokenizer: Tokenizer) -> None:
    assert covered("ﬁn ½", tokenizer) == ["ﬁn", "½"]


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_nothing_has_no_tokens(tokenizer: Tokenizer, text: str) -> None:
    found = tokens_of(text, tokenizer)
    assert len(found.ids) == len(found.starts) == len(found.ends) == 0


@given(text=st.text(max_size=100))
def test_ids_are_the_embedders_and_spans_are_in_order(tokenizer: Tokenizer, text: str) -> None:
    found = tokens_of(text, tokenizer)
    assert [found.ids.tolist()] == tokenizer.encode([text])
    spans = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert spans == sorted(spans)
