"""Test which strings of a question must match exactly, and that passages with them come first."""

from __future__ import annotations

from statistics import fmean

import pytest
from helpers import HashEmbedder, make_document

from answerable.answering.decide import Answering
from answerable.library import Library
from answerable.retrieval import retriever as exact
from answerable.retrieval.retriever import Steps, count_held, exact_first, exact_texts, may_hold
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore

SENTENCES = (
    "When the pump reports {}, close the valve and call the plant.",
    "Cuando la bomba muestra {}, cierre la válvula y llame a la planta.",
    "Quando a bomba mostra {}, feche a válvula e ligue para a fábrica.",
)
QUESTIONS = ("What do I do about {}?", "¿Qué hago si aparece {}?", "O que faço quando aparece {}?")
FORMS = ("ERR_4{}7", "ISO-90{}", "v1.{}.3", "40-{}-B", "read_{}()", "10.0.{}.1", "RFC26{}", "AX-{}1-K")


def test_what_is_wanted_to_the_letter() -> None:
    cases: list[tuple[str, tuple[str, ...]]] = [
        ("What does ERR_4711 mean?", ("err_4711",)),
        ("How is foo_bar() called, and store.read()?", ("foo_bar()", "store.read()")),
        ("ISO-9001, v1.2.3 or 40-12-B?", ("iso-9001", "v1.2.3", "40-12-b")),
        ("¿Quién dijo «Hasta la  Victoria» en CVE-2024-12345?", ("hasta la victoria", "cve-2024-12345")),
        ("Wer sagte „Hier stehe ich“?", ("hier stehe ich",)),
        ('Where does "open door" stand? And “closed, door.”', ("open door", "closed, door")),
        ("Is RFC2616 older than HTTP/1.1?", ("rfc2616", "http/1.1")),
        ("the mid-1990s, a 20-year-old, the 19th, 1914-18, 3.5, 12:30, IL-6, SHP2, and/or, km/h, E=mc2", ()),
        ('an inch is 1" and a foot 12", "" or "."', ()),
    ]
    failed = [(question, got) for question, wanted in cases if (got := exact_texts(question)) != wanted]
    assert failed == []


def test_what_a_text_holds() -> None:
    cases: list[tuple[str, str, bool]] = [
        ("err_471", "See ERR_471.", True),
        ("err_471", "See ERR_4711 or XERR_471.", False),
        ("v1.2", "v1.2.3 and v1.20", False),
        ("v1.2", "Version (v1.2), then others", True),
        ("40-12-b", "140-12-B, 40-12-BX, 40-12-B-1", False),
        ("iso-9001", "ISO-9001: what it asks for", True),
        ("foo_bar()", "Call foo_bar().", True),
        ("the open door", "He came through The\n  Open Door again", True),
        ("a.c(", "abc", False),
    ]
    failed = [(wanted, got) for wanted, text, is_held in cases if (got := count_held([wanted], text)) != is_held]
    assert failed == []


def test_a_chunk_is_above_all_that_hold_less() -> None:
    scored = [(1, 1.0), (2, 0.9), (3, 0.0), (4, 0.0)]
    assert [number for number, _ in exact_first(scored, {3: 2, 4: 1})] == [3, 4, 1, 2]
    assert all(0 <= score <= 1 for _, score in exact_first(scored, {3: 2, 1: 1}))
    assert exact_first(scored, {}) == scored


def first_right(steps: Steps) -> float:
    """The share of 200 questions after an identifier whose first passage holds it; others differ in a digit."""
    library = Library(MemoryStore(), HashEmbedder(), SplitterByType(), FileReader(), Answering(), steps=steps)
    documents, questions = [], []
    for place in range(200):
        name, language = FORMS[place % len(FORMS)].format(place // len(FORMS) + 10), place % 3
        text = SENTENCES[language].format(name)
        documents.append(make_document(text, f"d{place}", source=f"d{place}", language=("en", "es", "pt")[language]))
        questions.append((QUESTIONS[language].format(name), text))
    with library:
        library.add_documents(documents)
        best = [library.search(question, 1)[0].chunk.content for question, _ in questions]
    return fmean(text == wanted for text, (_, wanted) in zip(best, questions, strict=True))


def test_identifiers_that_differ_in_a_digit_are_told_apart() -> None:
    without, found = first_right(Steps(exact=False)), first_right(Steps())
    print(f"\nrecall@1 of 200 identifiers: {found:.3f}, {without:.3f} without")
    assert found == 1.0
    assert found >= without


def test_a_quoted_phrase_comes_before_passages_with_all_of_its_words() -> None:
    library = Library(MemoryStore(), HashEmbedder(), SplitterByType(), FileReader(), Answering())
    texts = {
        "exact": "In the long report nobody says so, and yet the Open  Door was mentioned once among other matters.",
        "near": "It is mentioned where the door is open. Open the door: a door that is open, where mentioned.",
        "far": "Windows stay shut.",
    }
    with library:
        library.add_documents(make_document(text, name, source=name, language="en") for name, text in texts.items())
        assert library.search("Where is the open door mentioned?", 1)[0].document.id == "near"
        results = library.search("Where is “the open door” mentioned?", 3)
    assert results[0].document.id == "exact"
    assert all(1 >= result.score >= 0 for result in results)
    assert results[0].score > results[1].score


def test_only_those_are_read_that_may_hold_it() -> None:
    cases: list[tuple[tuple[str, ...], set[str]]] = [
        (("err_4711",), {"a", "c"}),
        (("err_4712",), set()),
        (("err_4711", "iso-9001"), {"a", "b", "c"}),
        # The Spanish one has no "no": it is a stop word there.
        (("no",), {"a", "b", "c", "d"}),
        (("no entry",), {"b", "d"}),
        (("straße",), {"a", "b", "c", "d"}),
    ]
    for wanted, may in cases:
        texts = {
            "a": ("en", "The device shows ERR_4711."),
            "b": ("es", "No entry según ISO-9001."),
            "c": ("es", "Sale ERR_4711 otra vez."),
            "d": ("en", "No entries, no entry."),
        }
        store = MemoryStore()
        library = Library(store, HashEmbedder(), SplitterByType(), FileReader(), Answering())
        with library:
            library.add_documents(
                make_document(text, name, source=name, language=language) for name, (language, text) in texts.items()
            )
            scored = store.search_vectors(HashEmbedder().embed_query("any"), 10, None)
            left = store.fetch([number for number, _ in may_hold(store, wanted, ["en", "es"], scored)])
            assert {document.id for _, document in left.values()} == may, wanted


def test_words_of_many_chunks_are_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "LOOKED_UP", 1)
    store = MemoryStore()
    with Library(store, HashEmbedder(), SplitterByType(), FileReader(), Answering()) as library:
        library.add_documents(make_document(f"{name} ERR_4711", name, source=name) for name in ("a", "b"))
        scored = [*store.search_vectors(HashEmbedder().embed_query("any"), 10, None), (99, 0.0)]
        assert may_hold(store, ["err_4711"], ["en"], scored) == scored
