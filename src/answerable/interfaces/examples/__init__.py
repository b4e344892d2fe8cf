"""Example documents, written for this project, in a folder for each language, and questions about them.

The web page of an empty library offers the documents, and `answerable demo` uses them.
"""

from __future__ import annotations

from pathlib import Path

QUESTIONS = {
    "en": (
        "Who is allergic to shellfish?",
        "Can I use vinegar?",
        "How much did Clara spend in total?",
        "Who won the football World Cup in 1998?",
    ),
    "es": (
        "¿Quién es alérgica al marisco?",
        "¿Se puede usar vinagre?",
        "¿Cuánto gastó Clara en total?",
        "¿Quién ganó el Mundial de fútbol de 1998?",
    ),
    "pt": (
        "Quem é alérgica a camarão?",
        "Posso usar vinagre?",
        "Quanto a Clara gastou no total?",
        "Quem ganhou a Copa do Mundo de 1998?",
    ),
}
"""Questions by language. The documents answer all questions except the last."""


def example_documents(language: str) -> list[Path]:
    """Return the paths of the example documents in a language: `en`, `es` or `pt`."""
    return sorted((Path(__file__).parent / language).iterdir())
