"""Test answers made of quotes, in order of support, and refusals in the question's language."""

from __future__ import annotations

from dataclasses import replace

import pytest
from collecting import asking, chat, collect, text

from answerable.answering.ask import quote_from
from answerable.answering.decide import Answering, refuse
from answerable.answering.found import Found
from answerable.answering.gate import Gate, packaged_gates
from answerable.answering.messages import EMPTY_LIBRARY, QUOTING, REFUSAL, refusal
from answerable.answering.reading import rank
from answerable.answering.sentences import sentences
from answerable.datatypes import Reason
from answerable.protocols import Embedder, Passage
from answerable.text.indexed_text import indexed_text
from answerable.text.terms import rarity

PORTUGUESE = "Os documentos não dizem."
E5_SMALL = packaged_gates()["local:multilingual-e5-small"]
NEVER = Gate({}, -50.0, ((0.0, 1.0), (100.0, 1.0)))


def quotes(evidence: Found, count: int = 3, gate: Gate | None = None) -> list[str]:
    """The quotes of the answer, each verified."""
    answer = quote_from(evidence, Answering(gate, quotes=count))
    assert answer.answered
    lead, *lines = answer.text.splitlines()
    assert lead == QUOTING[evidence.asked.language or "en"]
    documents = {result.document.id: result.document for result in evidence.results}
    for number, (line, citation) in enumerate(zip(lines, answer.citations, strict=True), 1):
        assert line.endswith(f"“{' '.join(citation.quote.split())}” [{number}]")
        assert documents[citation.document_id].content[citation.start : citation.end] == citation.quote
    return [citation.quote for citation in answer.citations]


FACTS = "Paris lies on the Seine. The capital of France is Paris. Bread is made of flour. Wine is made of grapes."


def test_the_sentence_that_answers_comes_first() -> None:
    assert quotes(collect("What is the capital of France?", text(FACTS)), 1) == ["The capital of France is Paris."]
    assert quotes(collect("What is wine made of?", text(FACTS)))[0] == "Wine is made of grapes."


def test_similarity_decides_between_sentences_with_the_same_words() -> None:
    document = text("The tower is tall. The tower is old.")
    assert quotes(collect("tower", document, similarities=[0.8, 0.85])) == ["The tower is old.", "The tower is tall."]


def test_a_note_answers_only_what_its_sources_do_not() -> None:
    rules, other = text("The fee for late tools is 2 euros."), text("The key hangs at the door.")
    note = replace(text("What is the fee for late tools? The documents say: 2 euros."), metadata={"answerable": "note"})
    assert quotes(collect("What is the fee for late tools?", note, rules)) == ["The fee for late tools is 2 euros."]
    alone = collect("What is the fee for late tools?", note)
    assert quotes(alone)[0] == "The documents say: 2 euros."
    asked = collect("What is the fee for late tools?", note, other)
    assert not quote_from(asked, Answering(NEVER)).answered


def test_a_question_ranks_below_its_reply() -> None:
    document = chat(("Ana", "When is the meeting tomorrow?"), ("Luis", "The meeting is at ten"), ("Ana", "Thanks!!"))
    evidence = collect("When is the meeting tomorrow?", document, similarities=[0.9, 0.88, 0.86])
    assert quotes(evidence)[0] == "The meeting is at ten"


def test_a_further_quote_needs_its_own_support() -> None:
    document = chat(("Luis", "The wifi password is blue dog"), ("Ana", "Thanks!!"), ("Luis", "Welcome"))
    assert quotes(collect("What is the wifi password?", document, similarities=[0.9, 0.87, 0.87])) == [
        "The wifi password is blue dog"
    ]
    second = chat(("Luis", "The wifi password is blue dog"), ("Ana", "The wifi is down"))
    assert len(quotes(collect("What is the wifi password?", second, similarities=[0.9, 0.85]))) == 2


def test_a_sentence_only_next_to_the_best_quote_is_not_quoted() -> None:
    aside = text("Basil needs sun. Mint is happy with rain.")
    assert quotes(collect("What does basil need?", aside)) == ["Basil needs sun."]
    about_it = text("Basil needs sun. Basil is happy with rain.")
    assert len(quotes(collect("What does basil need?", about_it))) == 2


def test_a_sentence_with_a_word_that_the_best_quote_lacks_is_quoted_too() -> None:
    both = text("The lettuce is ready in forty days. The lettuce likes rain. The basil is picked from the sixth week.")
    question = "When is the lettuce ready and the basil?"
    found = quotes(collect(question, both, similarities=[0.9, 0.86, 0.9]))
    assert found == ["The lettuce is ready in forty days.", "The basil is picked from the sixth week."]


def test_no_more_quotes_than_asked_for_and_none_twice() -> None:
    document = text("Cats purr. Cats sleep. Cats eat. Cats run. Cats purr.\n\ncats  PURR.")
    for count in (1, 2, 3, 10):
        found = quotes(collect("What do cats do?", document), count)
        assert len(found) == min(count, 4)
        assert len({" ".join(quote.lower().split()) for quote in found}) == len(found)


def test_the_same_sentence_in_two_documents_is_quoted_once() -> None:
    evidence = collect("What do cats do?", text("Cats purr.", source="/a"), text("Cats purr.", source="/b"))
    assert quotes(evidence) == ["Cats purr."]


def test_a_chat_answer_names_sender_and_time() -> None:
    document = chat((None, "Ana joined"), ("Luis", "The flight leaves\non Friday."))
    answer = quote_from(collect("When does the flight leave?", document), Answering())
    assert answer.text == "The documents say:\nLuis (2024-03-05 21:16): “The flight leaves on Friday.” [1]"
    assert answer.citations[0].location.senders == ("Luis",)
    timeless = replace(document, parts=tuple(replace(part, time=None) for part in document.parts))
    assert "\nLuis: “The flight" in quote_from(collect("flight", timeless), Answering()).text


def test_a_document_answer_is_the_quote() -> None:
    answer = quote_from(collect("What do cats do?", text("Cats\npurr.")), Answering())
    assert answer.text == "The documents say:\n“Cats purr.” [1]"
    assert (answer.reason, answer.confidence, answer.language) == (Reason.ANSWERED, 1.0, "en")


def test_quotes_are_introduced_in_the_questions_language() -> None:
    cases = [
        ("en", "The documents say:"),
        ("es", "Los documentos dicen:"),
        ("pt", "Os documentos dizem:"),
        ("fr", "The documents say:"),
        ("", "The documents say:"),
    ]
    for language, lead in cases:
        answer = quote_from(asking(collect("cats", text("Cats purr.")), language=language), Answering())
        assert answer.text == f"{lead}\n“Cats purr.” [1]", lead


def test_without_a_gate_nothing_is_refused_and_with_one_weak_evidence_is() -> None:
    evidence = collect("How do rockets fly?", text("Cats purr."), similarities=[0.1])
    assert quotes(evidence) == ["Cats purr."]
    answer = quote_from(evidence, Answering(E5_SMALL))
    assert (answer.answered, answer.reason, answer.citations) == (False, Reason.WEAK_EVIDENCE, ())
    assert answer.text == REFUSAL["en"]
    assert answer.confidence < E5_SMALL.threshold
    assert answer.results == evidence.results


def test_nothing_to_quote_is_nothing_found() -> None:
    for evidence in (collect("Why?"), collect("Why?", text("# Only a heading"))):
        assert quote_from(evidence, Answering()).reason is Reason.NOTHING_FOUND


def test_content_that_no_longer_matches_is_no_answer() -> None:
    evidence = collect("What do cats do?", text("Cats purr."))
    changed = tuple(replace(each, document=replace(each.document, content="Dogs bark.")) for each in evidence.results)
    answer = quote_from(replace(evidence, results=changed), Answering())
    assert (answer.answered, answer.reason) == (False, Reason.NOTHING_FOUND)


def test_refusals_are_in_the_questions_language() -> None:
    cases = [
        ("pt", PORTUGUESE),
        ("es", "Los documentos no lo dicen."),
        ("en", "The documents don't say."),
        ("fr", "The documents don't say."),
        ("", "The documents don't say."),
    ]
    for language, sentence in cases:
        evidence = asking(collect("x", text("Cats purr.")), language=language)
        for reason in (Reason.WEAK_EVIDENCE, Reason.NOTHING_FOUND):
            answer = refuse(evidence, reason)
            assert (answer.text, answer.answered, answer.language) == (sentence, False, language), sentence
        assert refusal(Reason.EMPTY_LIBRARY, language) == EMPTY_LIBRARY.get(language, EMPTY_LIBRARY["en"]), sentence


def test_a_portuguese_question_without_answer() -> None:
    evidence = collect("Qual é a capital da França?", text("Cats purr."))
    assert quote_from(evidence, Answering(NEVER)).text == PORTUGUESE


def test_support_of_a_sentence_by_hand() -> None:
    document = text("The red house stands. It was sold in May.", title="Oak street")
    evidence = collect("red house street sold", document, similarities=[0.7, 0.6])
    weight = rarity(1, 1)
    assert list(evidence.word_weights.values()) == [weight] * 4
    first, second = sentences(evidence)
    assert (first.coverage, first.context) == pytest.approx((0.5, 0.25))
    assert (second.coverage, second.context) == pytest.approx((0.25, 0.75))
    assert (first.similarity, second.similarity) == pytest.approx((0.7, 0.6))
    assert (first.text, second.text) == ("The red house stands.", "It was sold in May.")
    # No word is there in a like form only. .5 + .47 · .25 + .82 and .25 + .47 · .75 + .82 − 8.3 · .1
    assert (first.near_coverage, second.near_coverage) == pytest.approx((0.5, 0.25))
    assert [each.support for each in rank([first, second])] == pytest.approx([1.4375, 0.5925])
    assert rank([]) == []


def test_the_context_of_a_message_is_its_sender_and_the_message_before() -> None:
    document = chat(("Ana", "Where is the key?"), ("Luis", "Under the mat"))
    evidence = collect("Where did Luis put the key", document)
    first, second = sentences(evidence)
    assert first.message == document.parts[0]
    assert second.message == document.parts[1]
    assert second.coverage == 0
    # Of Luis, put and key, the chunk lacks one: that one is rarer.
    assert second.context == pytest.approx(2 * rarity(1, 1) / (2 * rarity(1, 1) + rarity(1, 0)))


def test_sentences_without_vectors_are_ranked_by_their_words() -> None:
    evidence = collect("What is wine made of?", text(FACTS))
    bare = tuple(replace(chunk, sentence_vectors=chunk.sentence_vectors[:0]) for chunk in evidence.chunks)
    assert quotes(replace(evidence, chunks=bare), 1) == ["Wine is made of grapes."]


def test_with_the_real_vectors(embedder: Embedder) -> None:
    document = text(FACTS + " The library opens at nine. It closes at eight in the evening.")
    evidence = collect("When does the library close?", document)
    (result,), (chunk,) = evidence.results, evidence.chunks
    (vectors,) = embedder.embed_passages([Passage(indexed_text(result.chunk), chunk.sentences)])
    real = replace(
        asking(evidence, vector=embedder.embed_query(evidence.asked.question)),
        chunks=(replace(chunk, vector=vectors.whole, sentence_vectors=vectors.spans),),
    )
    assert quotes(real)[0] == "It closes at eight in the evening."
    question = "Who invented the telephone?"
    other = asking(real, question=question, message=question, vector=embedder.embed_query(question))
    words = {frozenset({"invent"}): 1.0, frozenset({"telephon"}): 1.0}
    refused = quote_from(replace(other, word_weights=words), Answering(E5_SMALL))
    assert refused.reason is Reason.WEAK_EVIDENCE
