"""Test which documents count as copies of others."""

from __future__ import annotations

from answerable.datatypes import Document
from answerable.evaluation.refusals import copies

RULE = "Students who miss more than a quarter of the lessons fail the course and repeat it in the year after."


def made(**texts: str) -> list[Document]:
    return [Document.from_text(text, doc_id=name) for name, text in texts.items()]


def test_a_copy_and_what_contains_it() -> None:
    longer = f"{RULE} " + "Nothing else is said here that anybody would have to know of before it is too late. "
    found = copies(made(rule=RULE, copy=RULE.upper(), longer=longer, other="The sea is cold in the months of winter."))
    assert found["rule"] == {"copy", "longer"}
    assert found["copy"] == {"rule", "longer"}
    assert found["longer"] == {"rule", "copy"}
    assert "other" not in found


def test_a_small_part_of_a_long_document_is_no_copy_of_it() -> None:
    long = RULE + " " + " ".join(f"Paragraph {number} is about matter {number} only." for number in range(60))
    found = copies(made(rule=RULE, long=long))
    # What the rule says stands in the long one; most of what the long one says doesn't stand in the rule.
    assert found == {"rule": {"long"}}


def test_short_texts_repeat_nothing() -> None:
    assert copies(made(one="Cats purr.", two="Cats purr.", empty="…")) == {}
