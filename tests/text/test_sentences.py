"""Test where sentences end, in texts and layouts that occur in documents."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples

from answerable.text.sentences import BLOCK, is_furniture, sentence_spans


def split(text: str, language: str = "en") -> list[str]:
    """The texts of the sentences."""
    return [text[start:end] for start, end in sentence_spans(text, language)]


def test_sentences_of_running_text() -> None:
    cases: list[tuple[str, list[str]]] = [
        ("en", ["Dr. Smith met Mr. Jones.", "They spoke e.g. of tea."]),
        ("en", ["J. R. R. Tolkien wrote it.", "The U.S. Army came.", "It cost $3.50."]),
        ("en", ["See www.example.com/a.b?c=d.", "Version 2.0.1 is out.", "Ask me@example.com!"]),
        ("en", ["Wait... what?", "Nothing."]),
        ("en", ["“Is it?” he asked.", "“It is.”", "So be it."]),
        ("es", ["El Sr. López llegó.", "La Dra. Ruiz no.", "¿Qué pasó?", "¡Nada!", "Costó 3.5 euros."]),
        ("es", ["Vino tarde.", "¿Por qué?", "No lo sé... y ya."]),
        ("es", ["Vive en la Av. Central, núm. 5.", "Véase la pág. 3."]),
        ("pt", ["O Sr. Silva mora na Av. Paulista, n. 5.", "A Profa. Ana veio.", "Ver pág. 3 e art. 5º."]),
        ("pt", ["A Cia. Vale Ltda. lucrou R$ 3.5 mi.", "V. Exa. sabe?", "A Sra. Dias sabe."]),
        ("pt", ["Ele disse que n.", "Ela disse que sim."]),
        ("zh", ["这是第一句。", "这是第二句！", "是吗？"]),
        ("ja", ["これは一つ目です。", "二つ目ですか？"]),
        ("ar", ["هذه جملة أولى.", "هل هذه ثانية؟", "نعم!"]),
        ("hi", ["यह पहला वाक्य है।", "क्या यह दूसरा है?"]),
        ("ru", ["Это первое.", "Это второе!"]),
        ("xx", ["One thing.", "Another thing."]),
        ("", ["One thing.", "Another thing."]),
    ]
    for language, sentences in cases:
        joined = "" if language in ("zh", "ja") else " "
        assert split(joined.join(sentences), language) == sentences, sentences


def test_lines_that_stand_for_themselves() -> None:
    cases: list[list[str]] = [
        ["1. First", "2. Second", "10. Tenth"],
        ["1) First", "2) Second"],
        ["a) Alpha", "b) Beta"],
        ["1.1 Scope", "1.2. Details", "2.10.1 More"],
        ["Buy:", "- eggs", "- milk", "* bread", "• salt", "– tea"],
        ["Price: 30 euros", "Colour: red", "Delivery time: two days"],
        ["Teléfono: 555 1234", "Horario: de 9 a 14"],
        ["| Name | Price |", "| --- | --- |", "| Pen. Blue | 3 |"],
        ["Name | Price", "--- | ---", "Pen | 3"],
        ["Name\tPrice", "Pen\t3", "Cup\t4"],
        ["# Title", "Text below it goes on and on.", "## Next", "More text."],
        ["> A quote.", "> Another."],
    ]
    failed = [(lines, got) for lines in cases if (got := split("\n".join(lines))) != lines]
    assert failed == []


def test_short_lines_are_a_list_without_marks() -> None:
    assert split("Roadmap\nBeta on 23 November\n2,000 concurrent users\nLaunch party in\nLisbon") == [
        "Roadmap",
        "Beta on 23 November",
        "2,000 concurrent users",
        "Launch party in\nLisbon",
    ]


def test_a_narrow_column_is_no_list() -> None:
    column = (
        "Since the mill burnt down in\n1921 the town has had no\nbakery, and the people of\nLower Ash buy their bread\n"
        "from a van."
    )
    assert split(column) == [column]


def test_items_that_end_in_a_conjunction_are_apart() -> None:
    lines = ["You need:", "1. a passport; and", "2. proof of address; or", "3. a letter", "4. Log in", "5. Sign"]
    assert split("\n".join(lines)) == lines


def test_a_number_on_a_line_of_its_own_belongs_to_its_item() -> None:
    assert split("1.\nFirst\n2.\nSecond") == ["1.\nFirst", "2.\nSecond"]


def test_what_is_struck_out_states_nothing() -> None:
    """The tildes stay with the words between them, and a sentence with other words is a sentence."""
    cases = {
        "~~The gate opens at nine.~~ The gate opens at ten.": ["The gate opens at ten."],
        "~~It is free. Bring a cup.~~ It costs 4 euros.": ["It costs 4 euros."],
        "Rules\n~~Bonfires are allowed here on Sundays.~~ Bonfires are forbidden here.": [
            *("Rules", "Bonfires are forbidden here."),
        ],
        "The fee is ~~60 euros~~ 75 euros.": ["The fee is ~~60 euros~~ 75 euros."],
        "- ~~Sell the stove~~\n- Buy oil": ["- Buy oil"],
        "- [x] ~~Sell the stove~~\n- [ ] Buy oil": ["- [x] ~~Sell the stove~~", "- [ ] Buy oil"],
        "| ~~Oak~~ | ~~14~~ |\n| Elm | ~~9~~ 8 |": ["| Elm | ~~9~~ 8 |"],
        "good night~~ see you~~": ["good night~~ see you~~"],
        "~~one paragraph\n\nand another~~": ["~~one paragraph", "and another~~"],
    }
    for text, said in cases.items():
        spans = [span for span in sentence_spans(text, "en") if not is_furniture(text, *span)]
        assert [text[start:end] for start, end in spans] == said


def test_the_number_of_a_clause_belongs_to_it() -> None:
    assert split("Article 2. Members pay 40. Guests pay 5.") == ["Article 2. Members pay 40.", "Guests pay 5."]
    assert split("Cláusula 4.1. El arrendador paga.", "es") == ["Cláusula 4.1. El arrendador paga."]
    assert split("They read article 2. Members pay.") == ["They read article 2.", "Members pay."]


def test_boxes_to_tick_are_items() -> None:
    assert split("☒ Pool included\n☐ Pets allowed") == ["☒ Pool included", "☐ Pets allowed"]


def test_items_of_several_sentences_are_split() -> None:
    assert split("1. Do this. It matters.\n2. Do that.") == ["1. Do this.", "It matters.", "2. Do that."]


def test_the_fences_of_code_are_apart_from_the_code() -> None:
    text = "Run this:\n```sh\nmake all\n```\nDone. Yes."
    assert split(text) == ["Run this:", "```sh", "make all", "```", "Done.", "Yes."]


def test_lines_wrapped_at_a_width_are_one_sentence() -> None:
    text = (
        "Introduction\n"
        "The quick brown fox jumps over the lazy dog and then it\n"
        "runs into the deep forest, where nobody has found it. So\n"
        "the story ends and there is nothing left to be told here.\n"
        "Methods\n"
        "We asked everybody in the village and those who live just\n"
        "outside of it.\n"
    )
    assert split(text) == [
        "Introduction",
        "The quick brown fox jumps over the lazy dog and then it\n"
        "runs into the deep forest, where nobody has found it.",
        "So\nthe story ends and there is nothing left to be told here.",
        "Methods",
        "We asked everybody in the village and those who live just\noutside of it.",
    ]


def test_blank_lines_and_pages_end_a_sentence() -> None:
    failed = [
        (blank, got)
        for blank in ["\n\n", "\n \t\n", "\r\n\r\n", "\f"]
        if (got := split(f"no full stop{blank}and more")) != ["no full stop", "and more"]
    ]
    assert failed == []


def test_a_bracket_that_never_closes_does_not_swallow_the_rest() -> None:
    text = "He said (this is never closed. " + "More words are said here. " * 30
    assert len(split(text)) == 31


@pytest.mark.parametrize("unit", ["The cat sat on the mat. ", "¿Qué pasó? La niña comió. ", "这是第一句。"])
def test_long_paragraphs_are_split_as_short_ones(unit: str) -> None:
    language = {"T": "en", "¿": "es"}.get(unit[0], "zh")
    short = split(unit, language)
    assert split(unit * (5 * BLOCK // len(unit)), language) == short * (5 * BLOCK // len(unit))


def test_a_word_longer_than_a_block_is_not_cut() -> None:
    assert [len(sentence) for sentence in split("x" * 3 * BLOCK + ". Yes.")] == [3 * BLOCK + 1, 4]


@examples(300)
@given(
    text=st.one_of(
        st.text(max_size=300),
        st.text("aA1.?!¿ \n\t|#-*:()“”»。\r\fº", max_size=300),
        st.lists(st.sampled_from(["Dr. ", "art. 5 ", "1. ", "a: b\n", "|x|\n", "n.", "\n\n", "Fin. "])).map("".join),
    ),
    language=st.sampled_from(["", "en", "es", "pt", "zh", "xx"]),
)
def test_sentences_are_ordered_disjoint_trimmed_and_complete(text: str, language: str) -> None:
    spans = sentence_spans(text, language)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    covered = {index for start, end in spans for index in range(start, end)}
    assert not "".join(character for index, character in enumerate(text) if index not in covered).strip()


def test_rows_of_figures_stand_for_themselves() -> None:
    text = "Company Revenue Founded\nAlfa S.A. R$ 722.875.391,46 1972\nBeta 10.5% 2020\nGamma was founded in\n1989 too."
    assert [text[start:end] for start, end in sentence_spans(text, "en")] == [
        "Company Revenue Founded",
        "Alfa S.A. R$ 722.875.391,46 1972",
        "Beta 10.5% 2020",
        "Gamma was founded in\n1989 too.",
    ]
    prose = "The river rose by 3 metres in May\n1994 1995 and fell again in 1996 1997\nas it had before."
    assert len(sentence_spans(prose, "en")) == 1
