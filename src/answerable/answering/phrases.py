"""The sentences that the engine itself writes in answers, in each language."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from answerable.datatypes import Reason

REFUSAL: Mapping[str, str] = {
    "en": "The documents don't say.",
    "es": "Los documentos no lo dicen.",
    "pt": "Não tenho informações necessárias para responder sua pergunta.",
}

QUOTING: Mapping[str, str] = {
    "en": "The documents say:",
    "es": "Los documentos dicen:",
    "pt": "Os documentos dizem:",
}

EMPTY_LIBRARY: Mapping[str, str] = {
    "en": "The library is empty: add documents first.",
    "es": "La biblioteca está vacía: añade documentos primero.",
    "pt": "A biblioteca está vazia: adicione documentos primeiro.",
}


MORE: Mapping[str, str] = {"en": " … and {} more", "es": " … y {} más", "pt": " … e mais {}"}


EARLIER: Mapping[str, str] = {"en": "earlier", "es": "antes", "pt": "antes"}


def refusal(reason: Reason, language: str) -> str:
    """Return the text of a refusal, in English for a language without its own text."""
    sentences = EMPTY_LIBRARY if reason is Reason.EMPTY_LIBRARY else REFUSAL
    return sentences.get(language, sentences["en"])


def quoting(language: str) -> str:
    """Return the line that introduces quotes, in English for a language without its own line."""
    return QUOTING.get(language, QUOTING["en"])


def more(left_out: int, language: str) -> str:
    """Return how many items of a list are left out, in words; "" for none."""
    return MORE.get(language, MORE["en"]).format(left_out) if left_out else ""


def earlier(language: str, day: date | None = None) -> str:
    """Return what precedes a quote that a later one changes, with the day of the quote if it is to be said."""
    word = EARLIER.get(language, EARLIER["en"])
    return f"{word} ({day:%Y-%m-%d}): " if day else f"{word}: "
