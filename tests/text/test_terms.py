"""Test the terms of keyword search, in the languages of documents and questions."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from answerable.text.terms import fold, question_words, term_counts, terms, words


def test_forms_of_a_word_are_one_term() -> None:
    cases = [
        ("en", "connect connected connecting connections"),
        ("es", "reunión reuniones reunion"),
        ("pt", "pergunta perguntas perguntar"),
        ("fr", "continuer continué continuant"),
        ("de", "Häuser Hauses"),
        ("it", "libro libri"),
        ("ru", "книга книги книгу"),
    ]
    failed = [
        (forms, got)
        for language, forms in cases
        if (got := len({tuple(terms(form, language)) for form in forms.split()})) != 1
    ]
    assert failed == []


def test_a_language_without_stemmer_keeps_words_whole() -> None:
    assert terms("connected Connecting", "") == ["connected", "connecting"]
    assert terms("connected", "xx") == ["connected"]


def test_terms_are_counted_in_the_order_of_their_first_places() -> None:
    text = "The connection was connected, the cafés of Ávila connect to 東京都."
    assert list(term_counts(text, "en").items()) == list(Counter(terms(text, "en")).items())
    assert term_counts(text, "en")["connect"] == 3


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_words_are_runs_of_letters_digits_and_underscores(text: str) -> None:
    assert list(words(text)) == re.findall(r"\w+", text.lower())


def test_words_that_are_forgotten_have_the_same_terms_again() -> None:
    many = " ".join(f"word{number}" for number in range(70_000))
    assert terms(f"connecting {many} connecting", "fi") == terms(f"connecting {many}", "fi") + terms("connecting", "fi")


def test_stop_words_of_the_language_only_are_left_out() -> None:
    assert terms("the cat and the dog", "en") == ["cat", "dog"]
    assert "the" in terms("the cat", "es")
    assert terms("El gato y la niña", "es") == terms("gato niña", "es")
    assert terms("a cor do céu é", "pt") == terms("cor céu", "pt")


def test_words() -> None:
    cases: list[tuple[str, list[str]]] = [
        ("GLD-4471", ["gld", "4471"]),
        ("foo_bar2 x=3.14", ["foo_bar2", "x", "3", "14"]),
        ("ＦＵＬＬ ﬁne ①", ["full", "fine", "1"]),
        ("東京都に", ["東京", "京都", "都に"]),
        ("東", ["東"]),
        ("abc東京", ["abc", "東京"]),
        ("e\u0301te\u0301", ["été"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("عَرَبِيّ", ["عَرَبِيّ"]),
        ("...!? 👍🏽", []),
        ("", []),
    ]
    failed = [(text, got) for text, found in cases if (got := list(words(text))) != found]
    assert failed == []


def test_thai_is_read_in_pairs() -> None:
    assert list(words("ภาษาไทย")) == ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]


def test_accents_and_vowel_points_are_folded_and_indic_vowels_kept() -> None:
    cases = [
        ("ação", "acao"),
        ("niño", "nino"),
        ("naïve", "naive"),
        ("ё", "е"),
        ("عَرَب", "عرب"),
        ("שָׁלוֹם", "שלום"),
        ("हिन्दी", "हिन्दी"),
        ("abc", "abc"),
    ]
    failed = [(word, got) for word, bare in cases if (got := fold(word)) != bare]
    assert failed == []


def test_accents_make_no_difference() -> None:
    assert terms("reunión canción", "es") == [fold(term) for term in terms("reunión canción", "es")]
    assert terms("İstanbul", "") == terms("istanbul", "")


def test_a_question_word_is_the_set_of_its_terms_in_every_language() -> None:
    assert question_words("running dogs", "en", ["en"]) == [frozenset({"run"}), frozenset({"dog"})]
    (variants,) = question_words("universities", "en", ["en", "es", "pt"])
    assert variants == {terms("universities", language)[0] for language in ("en", "es", "pt")}


def test_stop_words_of_the_question_are_no_words_and_repeats_count_once() -> None:
    assert question_words("What is the colour of the colour?", "en", ["en", "es"]) == question_words(
        "colour", "en", ["en", "es"]
    )
    assert question_words("¿Qué es?", "es", ["es"]) == []


def test_a_stop_word_of_a_documents_language_is_looked_for_in_the_others() -> None:
    # "sale" isn't said of nothing in Spanish; "son" means something in English only.
    assert question_words("son", "en", ["es"]) == [frozenset({"son"})]
    assert question_words("son", "", ["es"]) == [frozenset({"son"})]
    assert question_words("son", "es", ["en"]) == []


@given(st.text(max_size=100), st.sampled_from(["", "en", "es", "pt", "ar", "zh", "hi"]))
def test_a_text_and_a_question_come_to_the_same_terms(text: str, language: str) -> None:
    in_question = {term for word in question_words(text, language, [language]) for term in word}
    assert in_question == set(terms(text, language))
