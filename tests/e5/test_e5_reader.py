"""Test the packaged reader model: which texts answer, and with which words, in three languages."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from answerable.answering.reading import share_of
from answerable.e5.readers import E5Reader
from answerable.protocols import Reading

# A question, a window that answers, the answer, and a window that shares its words without answering.
ASKED = {
    "en": (
        "When does the swimming pool open?",
        "The gym opens at six. The swimming pool opens at half past seven, except on Sundays.",
        "half past seven",
        "The swimming pool was built by the town in 1974. When it rains, its roof stays open.",
    ),
    "es": (
        "¿Quién pagó el hotel?",
        "Los vuelos los pagó Marta. El hotel lo pagó Andrés con su tarjeta.",
        "Andrés",
        "El hotel tiene piscina y está junto a la playa. Quien quiera pagar con tarjeta puede hacerlo.",
    ),
    "pt": (
        "Quanto custa a assinatura anual?",
        "A assinatura mensal custa 12 euros. A assinatura anual custa 99 euros e inclui a revista.",
        "99 euros",
        "A assinatura anual pode ser cancelada a qualquer momento, sem custos, até um mês antes do fim.",
    ),
    "es asked in en": (
        "Who paid for the hotel?",
        "Los vuelos los pagó Marta. El hotel lo pagó Andrés con su tarjeta.",
        "Andrés",
        "El hotel tiene piscina y está junto a la playa. Quien quiera pagar con tarjeta puede hacerlo.",
    ),
    "a chat": (
        "¿A qué hora sale el autobús?",
        "2024-05-04\n09:12 Ana: ¿vamos en autobús?\n09:13 Luis: sí, sale a las diez y cuarto",
        "diez y cuarto",
        "2024-05-04\n09:12 Ana: perdí el autobús otra vez\n09:13 Luis: ¿a qué hora sales hoy?",
    ),
    "a table": (
        "What did the flights cost?",
        "| Expense | Amount |\n| Hotel | 420 EUR |\n| Flights | 1240 EUR |",
        "1240 EUR",
        "| Expense | Paid by |\n| Hotel | Tom |\n| Flights | Sara |",
    ),
}


@pytest.fixture(scope="module")
def reader(cache_folder: Path) -> E5Reader:
    return E5Reader(threads=1, cache_folder=cache_folder / "models")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=pytest.mark.xfail(name == "a chat", strict=True, reason="a chat's question is taken for its answer"),
        )
        for name in ASKED
    ],
)
def test_what_answers_is_told_from_what_shares_words(reader: E5Reader, name: str) -> None:
    question, answering, answer, near = ASKED[name]
    found, other = reader.read(question, [answering, near])
    assert found.logit > other.logit + 0.5
    start = answering.index(answer)
    assert found.start < start + len(answer)
    assert start < found.end
    sentence = answering.rfind("\n", 0, start) + 1
    assert share_of(found, sentence, start + len(answer)) > 0.5


def test_windows_are_read_alike_alone_and_together(reader: E5Reader) -> None:
    question = ASKED["en"][0]
    windows = [window for _, answering, _, near in ASKED.values() for window in (answering, near)]
    together = reader.read(question, windows)
    alone = [reader.read(question, [window])[0] for window in windows]
    assert [each.logit for each in together] == pytest.approx([each.logit for each in alone], abs=0.15)


def test_whatever_the_text(reader: E5Reader) -> None:
    cases = ["", " ", "\0", "\ud800 broken", "a" * 5000, "word " * 5000, "👩‍👩‍👧‍👦" * 50, "</s></s><s> the pool opens"]
    for text in cases:
        for question, window in ((text, "The pool opens at seven."), ("When does the pool open?", text)):
            (found,) = reader.read(question, [window])
            assert 0 <= found.start <= found.end <= len(window), text
            assert found.likely.sum() == pytest.approx(1.0 if len(found.starts) else 0.0, abs=1e-3), text


def test_windows_are_read_alike_on_one_lane_and_on_several(reader: E5Reader, cache_folder: Path) -> None:
    several = E5Reader(threads=3, cache_folder=cache_folder / "models")
    question = ASKED["en"][0]
    windows = [window for _, answering, _, near in ASKED.values() for window in (answering, near)]
    for count in (1, 2, len(windows)):
        found = [each.logit for each in several.read(question, windows[:count])]
        assert found == pytest.approx([each.logit for each in reader.read(question, windows[:count])], abs=0.15)


def test_nothing_to_read(reader: E5Reader) -> None:
    assert reader.read("When?", []) == []


def test_threads_share_a_reader(reader: E5Reader) -> None:
    question, answering, _, _ = ASKED["en"]
    expected = reader.read(question, [answering])[0].logit
    found: list[Reading] = []
    threads = [threading.Thread(target=lambda: found.extend(reader.read(question, [answering]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.logit for each in found] == pytest.approx([expected] * 4, abs=1e-3)
