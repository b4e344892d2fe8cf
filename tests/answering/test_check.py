"""What a model wrote is tied to what its passages say; what isn't backed is taken out."""

from __future__ import annotations

from datetime import datetime
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_settings import examples

from answerable.answering.checking.check import check_answer
from answerable.answering.checking.verdicts import CheckedAnswer, Support
from answerable.answering.phrases import REFUSAL
from answerable.datatypes import Document, DocumentType, Part, PartKind, RetrievalResult
from answerable.reading.e5_judge import E5Judge
from answerable.splitting.by_type import SplitterByType

JUDGE = E5Judge(threads=1)


def passage(document: Document) -> RetrievalResult:
    """A result whose chunk is the whole document."""
    (chunk,) = SplitterByType(100_000, 0).split(document)
    return RetrievalResult(chunk, 1.0, document)


MUSEUM = passage(
    Document.from_text(
        "The museum opened in 1901. It was founded by Ana Gómez. Entry costs 5 euros; it isn't open on Mondays.\n\n"
        "- Tickets are sold at the door.\n- Dogs are allowed in the garden.",
        title="City Museum",
        language="en",
    )
)
LIBRARY = passage(
    Document.from_text(
        "The library closed in 1950, after the war. Books can be borrowed for three weeks.", language="en"
    )
)
CODE = passage(Document.from_text("Run it so:\n\n    make demo\n    make test\n", language="en"))
PASSAGES = [MUSEUM, LIBRARY, CODE]


def check(text: str, language: str = "en", **options: bool) -> CheckedAnswer:
    checked = check_answer(text, PASSAGES, language, JUDGE, **options)
    for citation in checked.citations:
        content = next(one.document.content for one in PASSAGES if one.document.id == citation.document_id)
        assert content[citation.start : citation.end] == citation.quote
    return checked


def supports(text: str, language: str = "en") -> list[Support]:
    return [sentence.support for sentence in check(text, language).sentences]


def test_an_answer_keeps_its_form_and_loses_unsupported_sentences() -> None:
    checked = check(
        "Hello! Here is what I found:\n\n- The museum opened in 1901 [1].\n- It was founded by Ana Gómez. [1] "
        "It has ten floors. [1]\n- **Books** can be borrowed for three weeks [2].\n\nLet me know if you need more!"
    )
    assert checked.text == (
        "Hello! Here is what I found:\n\n- The museum opened in 1901 [1].\n- It was founded by Ana Gómez. [2]\n"
        "- **Books** can be borrowed for three weeks [3]."
    )
    assert [citation.quote for citation in checked.citations] == [
        "The museum opened in 1901.",
        "It was founded by Ana Gómez.",
        "Books can be borrowed for three weeks.",
    ]
    assert [sentence.text for sentence in checked.removed] == ["It has ten floors. [1]"]


def test_unsupported_sentences() -> None:
    cases = [
        "The museum opened in 1902 [1].",
        "The museum opened in 1950 [1].",
        "The museum is open on Mondays [1].",
        "Dogs aren't allowed in the garden [1].",
        "The library closed before the war [2].",
        "It was founded by Rosa Gómez [1].",
        "“Entry costs 6 euros” [1].",
        "“it is open on Mondays” [1].",
        "Napoleon built the Eiffel tower [1].",
        "Napoleon burnt every painting because “Entry costs 5 euros” [1].",
        "It is false that “the museum opened in 1901” [1].",
        "The museum opened in 1901, see https://evil.example/x [1].",
        "The museum opened in 1901 ![x](https://evil.example/x.png) [1].",
        "Es gratis [1].",
        "```\nmake clean\n```",
        "No.",
    ]
    for text in cases:
        checked = check(text)
        assert (checked.text, checked.citations) == ("", ()), text
        assert checked.removed, text


def test_supported_sentences() -> None:
    cases = [
        "“Entry costs  5 euros” [1].",
        "The text says: “entry costs 5 euros” [1].",
        "According to the document, dogs are allowed in the garden [1].",
        "In 1901 the museum opened [1].",
        "The City Museum was founded by Ana Gómez [1].",
        "Entry costs five euros [1].",
        "Three weeks [2].",
        "The library closed in 1950【2】.",
        "Books can be borrowed for three weeks [1-3].",
        "The museum opened in 1901.",
        "```\nmake demo\nmake test\n```",
    ]
    failed = [text for text in cases if supports(text) not in ([Support.QUOTED], [Support.SUPPORTED])]
    assert failed == []


def test_a_wrong_citation_is_corrected() -> None:
    for text in ("“Entry costs 5 euros” [2].", "Entry costs 5 euros [2].", "Entry costs 5 euros [9]."):
        checked = check(text)
        assert [sentence.support for sentence in checked.sentences] == [Support.CORRECTED]
        assert [citation.document_id for citation in checked.citations] == [MUSEUM.document.id]


def test_text_without_claims_is_no_answer() -> None:
    cases = [
        "Hello!",
        "Sure, here is a summary:",
        "",
        "---",
    ]
    for text in cases:
        checked = check(text)
        assert checked.text == "", text
        assert all(sentence.support is Support.NOTHING_CLAIMED for sentence in checked.sentences), text
        assert not checked.claims, text


@pytest.mark.parametrize("text", [*REFUSAL.values(), "Los documentos no lo dicen. The museum opened in 1901 [1]."])
def test_an_answer_that_begins_with_a_refusal_refuses(text: str) -> None:
    for keeps in (True, False):
        checked = check(text, keep_unsupported=keeps)
        assert checked.text == text
        assert checked.refuses
        assert checked.claims is ("museum" in text)
    assert not check("The museum opened in 1901 [1]. The documents don't say.").refuses


def test_a_heading_stays_before_something_backed() -> None:
    text = "# City Museum\n\nIt opened in 1901 [1].\n\n# Summary\n\nIt burnt down in 1999 [1]."
    assert check(text).text == "# City Museum\n\nIt opened in 1901 [1]."


def test_rows_of_a_table() -> None:
    text = "| What | When |\n|---|---|\n| museum opened | 1901 [1] |\n| museum opened | 1950 [1] |"
    assert check(text).text == "| What | When |\n|---|---|\n| museum opened | 1901 [1] |"


ROWS = passage(
    Document.from_text(
        "Nome da empresa Faturamento Ano de fundação\nAlfa Energia S.A. R$ 722.875.391,46 1972\n"
        "SuperTechIABrazil R$ 10.000.000,00 2020\nBeta Agro R$ 85.675.568,77 1989",
        language="pt",
    )
)


def test_a_figure_belongs_to_its_row() -> None:
    cases: list[tuple[str, bool]] = [
        ("A Alfa Energia S.A. foi fundada em 1972.", True),
        ("A Alfa Energia S.A. foi fundada em 1989.", False),
        ("O faturamento da empresa SuperTechIABrazil foi de 10 milhões de reais.", True),
        ("O faturamento da Beta Agro foi de R$ 10.000.000,00.", False),
        ("O faturamento da Beta Agro foi de R$ 85.675.568,77.", True),
    ]
    for text, is_backed in cases:
        checked = check_answer(text, [ROWS], "pt", JUDGE, marks=False)
        assert [one.support is Support.SUPPORTED for one in checked.sentences] == [is_backed], text


def test_quotes_are_verbatim_and_numbered_in_order() -> None:
    checked = check('"Books can  be borrowed" [2]. "Dogs are allowed" [1]. "Books can be borrowed" [2].')
    assert checked.text == '"Books can be borrowed" [1]. "Dogs are allowed" [2]. "Books can be borrowed" [1].'


def test_unsupported_sentences_can_be_kept() -> None:
    checked = check("The museum opened in 1901 [1]. Napoleon built it [1].", keep_unsupported=True)
    assert checked.text == "The museum opened in 1901 [1]. Napoleon built it [1]. (not verified)"
    assert [citation.quote for citation in checked.citations] == ["The museum opened in 1901."]


def test_without_marks_any_passage_backs_and_none_is_shown() -> None:
    checked = check("The library closed in 1950 [1].", marks=False)
    assert checked.text == "The library closed in 1950."
    assert [citation.document_id for citation in checked.citations] == [LIBRARY.document.id]


def test_emphasis_is_always_closed() -> None:
    cases = [
        ("**The museum opened in 1901.**", "**The museum opened in 1901.**"),
        ("*The museum opened in 1901.* It has ten floors.", "*The museum opened in 1901.*"),
        ("**The museum opened in 1901. It has ten floors.**", "**The museum opened in 1901.**"),
        ("**It has ten floors. The museum opened in 1901.**", "**The museum opened in 1901.**"),
        ("**It has ten floors. It is blue.** The museum opened in 1901.", "The museum opened in 1901."),
        ("**It has ten floors.** The museum opened in **1901**.", "The museum opened in **1901**."),
    ]
    failed = [(text, got) for text, kept in cases if (got := check(text, marks=False).text) != kept]
    assert failed == []


def test_an_answer_may_be_in_another_language_than_its_passage() -> None:
    assert supports("Según el texto, «Entry costs 5 euros» [1].", "es") == [Support.QUOTED]
    assert supports("En 1850 dice el texto: «Entry costs 5 euros» [1].", "es") == [Support.UNSUPPORTED]
    assert supports("The museum opened in 1901 and it was founded by Ana Gómez [1].", "es") == [Support.SUPPORTED]


def test_two_passages_back_a_sentence_together() -> None:
    checked = check("The museum opened in 1901 and the library closed in 1950 [1][2].")
    assert [sentence.support for sentence in checked.sentences] == [Support.SUPPORTED]
    assert {citation.document_id for citation in checked.citations} == {MUSEUM.document.id, LIBRARY.document.id}


def test_a_quote_may_not_lose_its_negation() -> None:
    source = passage(Document.from_text("The army did not burn the old city down. It left.", language="en"))
    lost = check_answer("The text says they “burn the old city down” [1].", [source], "en", JUDGE)
    kept = check_answer("The text says they did not “burn the old city down” [1].", [source], "en", JUDGE)
    assert (lost.text, kept.removed) == ("", ())


def test_a_part_of_a_sentence_is_no_quote_of_it() -> None:
    source = passage(Document.from_text("If it rains, the fair on the green is put off. It is fun.", language="en"))
    whole, part = "If it rains, the fair on the green is put off.", "The fair on the green is put off."
    unread = [check_answer(text, [source], "en", None).sentences[0].support for text in (whole, part)]
    assert unread == [Support.QUOTED, Support.UNSUPPORTED]


def test_a_message_belongs_to_its_sender() -> None:
    ana, luis = "5/3/24 9:00 - Ana: ", "5/3/24 9:05 - Luis: "
    content = f"{ana}The ferry leaves at seven tomorrow\n{luis}I bring the big tent\n"
    middle = content.index(luis)
    parts = (
        Part(0, middle, PartKind.MESSAGE, time=datetime(2024, 3, 5, 9), sender="Ana", body=len(ana)),
        Part(
            middle,
            len(content),
            PartKind.MESSAGE,
            time=datetime(2024, 3, 5, 9, 5),
            sender="Luis",
            body=middle + len(luis),
        ),
    )
    chat = passage(Document("c", content, "/c.txt", "Trip", DocumentType.CHAT, "en", parts=parts))
    for text, is_backed in (
        ("Ana said the ferry leaves at seven [1].", True),
        ("On 5 March 2024 Ana said that “the ferry leaves at seven” [1].", True),
        ("Luis said the ferry leaves at seven [1].", False),
        ("Luis said “the ferry leaves at seven” [1].", False),
        ("On 6 March 2024 Ana said the ferry leaves at seven [1].", False),
    ):
        assert bool(check_answer(text, [chat], "en", JUDGE).text) is is_backed, text


PIECES = st.sampled_from(
    ["The museum opened in 1901", "Napoleon", " [1]", "[2]", "【3】", "“", "”", '"', "«", ". ", "\n", "\n\n", "- ",
     "| a |", "```", "# ", " not ", "5 euros", "…", "[1-9999]", "[0]", " ", "Ana", "isn't", ":", "?"]
)  # fmt: skip


@settings(deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join)), st.booleans(), st.booleans())
def test_any_answer_is_checked(text: str, marks: bool, keep: bool) -> None:
    checked = check(text, marks=marks, keep_unsupported=keep)
    refuses = any(one.how == "it refuses" for one in checked.sentences)
    assert keep or bool(checked.text) is (bool(checked.citations) or refuses)
    assert set(checked.citations) == {citation for one in checked.sentences for citation in one.citations}
    if marks:
        assert all(f"[{number}]" in checked.text for number in range(1, len(checked.citations) + 1))
    backed = [one for one in checked.sentences if one.support in (Support.QUOTED, Support.SUPPORTED, Support.CORRECTED)]
    assert all(one.citations for one in backed)
    assert keep or all(one in backed for one in checked.sentences if one.citations)


@examples(30)
@given(st.text(max_size=150), st.text(max_size=80))
def test_any_passage_can_be_checked_against(content: str, text: str) -> None:
    documents = [Document.from_text(f"Begin. {content} End.", language="en"), Document.from_text(f"x {content}")]
    checked = check_answer(f"{text} “{content[:60]}” [1].", [passage(document) for document in documents], "en", JUDGE)
    for citation in checked.citations:
        document = next(one for one in documents if one.id == citation.document_id)
        assert document.content[citation.start : citation.end] == citation.quote


def test_quotes_are_found_despite_hidden_characters_which_are_removed() -> None:
    document = Document.from_text("The fare is 1,0\U000e004140 pe\x1bsos today.", language="en")
    checked = check_answer("They say: “The fare is 1,040 pesos today” [1].", [passage(document)], "en", JUDGE)
    assert checked.text == "They say: “The fare is 1,040 pesos today” [1]."
    assert [citation.quote for citation in checked.citations] == ["The fare is 1,0\U000e004140 pe\x1bsos today"]


def test_without_passages_nothing_is_backed() -> None:
    assert check_answer("The museum opened in 1901 [1].", [], "en", JUDGE).text == ""


@pytest.mark.parametrize(
    "piece",
    ['" ', "“", "[1]", "a [1] ", "1. ", "**", "- x\n", "| a |\n", "```\n", '"a\n', "[1, ", "museum 1901 ", "# "],
)
def test_time_grows_with_length_not_its_square(piece: str) -> None:
    def seconds(size: int) -> float:
        before = process_time()
        check(piece * (size // len(piece)))
        return process_time() - before

    seconds(100)
    assert seconds(8_000) < 12 * max(seconds(2_000), 0.05)
