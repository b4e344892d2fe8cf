"""The sentences that the engine itself writes in answers, in each language."""

from __future__ import annotations

from collections.abc import Mapping

from answerable.datatypes import Reason

REFUSAL: Mapping[str, str] = {
    "en": "The documents don't say.",
    "es": "Los documentos no lo dicen.",
    "pt": "Os documentos não dizem.",
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

HOW_TO_ASK: Mapping[str, str] = {
    "en": "Ask a question about these documents: the answer quotes them and says where each quote is. "
    "“What documents are there?” lists them.",
    "es": "Haz una pregunta sobre estos documentos: la respuesta los cita y dice dónde está cada cita. "
    "«¿Qué documentos hay?» los enumera.",
    "pt": "Faça uma pergunta sobre estes documentos: a resposta os cita e diz onde está cada citação. "
    "“Quais documentos há?” os enumera.",
}


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


def how_to_ask(language: str) -> str:
    """Return what the program does and how to ask, in English for a language without its own text."""
    return HOW_TO_ASK.get(language, HOW_TO_ASK["en"])
