"""The signs after a model's sentences where text has no styles."""

from __future__ import annotations

from answerable.datatypes import Answer, Reason, SentenceCheck
from answerable.interfaces.written import signed, signed_pieces


def answered(text: str, *marks: tuple[str, str], language: str = "en") -> Answer:
    checks = tuple(SentenceCheck(sentence, mark, "") for sentence, mark in marks)
    return Answer("?", text, True, Reason.ANSWERED, language, 1.0, checks=checks)


def test_a_sign_follows_each_sentence_that_is_not_verified() -> None:
    text = "# Fares\n\nA ticket is 12 euros [1]. It is cheap.\n\n| Dog | free |\n\n```\npay()\n```\n"
    found = answered(
        text,
        ("# Fares", "nothing claimed"),
        ("A ticket is 12 euros [1].", "verified"),
        ("It is cheap.", "unsupported"),
        ("| Dog | free |", "check"),
        ("```\npay()\n```", "check"),
    )
    assert signed(found) == (
        "# Fares\n\nA ticket is 12 euros [1]. It is cheap. [no source]\n\n| Dog | free [check] |\n\n"
        "```\npay()\n```\n[check]\n"
    )
    assert next(piece for piece in signed_pieces(found) if piece[1]) == ("It is cheap. [no source]", "unsupported")


def test_a_sentence_that_was_left_out_marks_no_other() -> None:
    # Strict grounding left the first "Sí." out; the second is a part of a sentence that stays.
    found = answered("Ana dijo: Sí. Vino.", ("Sí.", "check"), ("Ana dijo: Sí. Vino.", "verified"), language="es")
    assert signed(found) == found.text
    assert signed(answered("Sí. No.", ("Sí.", "verified"), ("No.", "check"), language="es")) == "Sí. No. [comprobar]"
