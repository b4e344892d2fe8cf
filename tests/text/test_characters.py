"""Texts that encoders and servers can take are as long as those they are made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from answerable.text.characters import encodable, sendable

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
