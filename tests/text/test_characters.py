"""Test that replacing characters which encoders and servers reject doesn't change a text's length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from answerable.text.characters import encodable, sendable, single_spaced

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def test_only_surrogates_and_nuls_are_replaced() -> None:
    assert encodable("año \ud800\udfff\0 😀") == "año ??\0 😀"
    assert sendable("año \ud800\udfff\0 😀") == "año ??  😀"


@given(ANY_TEXT)
def test_any_text_can_be_sent(text: str) -> None:
    sent = sendable(text)
    assert sent.encode("utf-8").count(0) == 0
    assert len(sent) == len(encodable(text)) == len(text)
    assert sendable(sent) == sent


@given(st.text())
def test_white_space_becomes_one_space(text: str) -> None:
    assert single_spaced(text) == " ".join(text.split())


@given(st.text(st.sampled_from("ab é\t\n\f\x1c\x85\xa0\u2028\u3000\u200b")))
def test_any_white_space_does(text: str) -> None:
    assert single_spaced(text) == " ".join(text.split())
