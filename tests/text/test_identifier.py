"""The classifier of documents' languages beside the package that its model comes from."""

from __future__ import annotations

import numpy as np
import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier, visit_counts

from answerable.text.identifier import Identifier, _counted

LANGUAGES = ("de", "en", "es", "hi", "pt", "ru", "sr", "th", "zh")
TEXTS = [
    "The library keeps every document in one place and answers questions with quotes that can be checked.",
    "EVERY WORD OF THIS NOTICE IS WRITTEN IN CAPITALS",
    "A biblioteca guarda todos os documentos em um só lugar e responde às perguntas com citações verificáveis.",
    "Библиотека хранит все документы в одном месте и отвечает на вопросы цитатами.",
    "図書館はすべての文書を一か所に保管し、確認できる引用で質問に答えます。",
    "पुस्तकालय सभी दस्तावेज़ों को एक ही स्थान पर रखता है।",
    "e\u0301le\u0300ve de l'e\u0301cole",
    "half a character \ud800 and a NUL \0",
    "a",
    "é",
    "word " * 2000,
    "",
]


@pytest.fixture(scope="module")
def original() -> LanguageIdentifier:
    found = LanguageIdentifier.from_model_file(MODEL_FILE)
    found.set_languages(LANGUAGES)
    return found


@pytest.fixture(scope="module")
def identifier() -> Identifier:
    return Identifier(LANGUAGES)


def test_it_is_the_packages_classifier(identifier: Identifier, original: LanguageIdentifier) -> None:
    failed = [(text, got) for text in TEXTS if (got := identifier.classify(text)) != original.classify(text)[0]]
    assert failed == []


def test_it_finds_the_packages_groups_of_bytes(identifier: Identifier, original: LanguageIdentifier) -> None:
    chance = np.random.default_rng(1)
    texts = [text.encode("utf-8", "surrogatepass") for text in TEXTS] + [chance.bytes(500) for _ in range(20)]
    for data in texts:
        groups, counts = _counted(identifier._groups(data))
        visited = visit_counts(original.tk_nextmove, original._rowbase, original.tk_output, data) or {}
        assert dict(zip(groups.tolist(), counts.tolist(), strict=True)) == visited
