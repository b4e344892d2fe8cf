"""Quotes that answer, in order of support, or a refusal in the question's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.analysis.bm25 import rarity
from answerable.analysis.terms import terms
from answerable.answering.evidence import Sentence, sentences
from answerable.answering.extractive import ExtractiveAnswerer, rank, refuse
from answerable.answering.gate import E5_SMALL, Gate
from answerable.answering.messages import EMPTY_LIBRARY, REFUSAL, refusal
from answerable.datatypes import Document, DocumentType, Part, PartKind, Reason, RetrievalResult
from answerable.protocols import Embedder, Evidence, IndexedChunk, Passage
from answerable.retrieval.question import analyze_question
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.evidence import evidence_spans

PORTUGUESE = "Não tenho informações necessárias para responder sua pergunta."
START = datetime(2024, 3, 5, 21, 15)
NEVER = Gate(0.0, 0.0, 0.0, -50.0)
CLOSE = 0.9


def collect(
    question: str, *documents: Document, similarities: Sequence[float] = (), chunk_size: int = 1800, language: str = ""
) -> Evidence:
    """What retrieval would hand over, each sentence as close to the question as given (by default all alike)."""
    asked = analyze_question(question, [document.language for document in documents])
    closeness = iter(similarities)
    results, chunks = [], []
    for document in documents:
        for chunk in SplitterByType(chunk_size, 0).split(document):
            spans = evidence_spans(chunk, document.language)
            cosines = [next(closeness, CLOSE) for _ in spans]
            rows = np.array([[cosine, np.sqrt(1 - cosine**2)] for cosine in cosines], np.float32).reshape(-1, 2)
            counts = {term: 1 for term in terms(chunk.indexed_text, document.language)}  # noqa: C420
            results.append(RetrievalResult(chunk, 1.0, document))
            chunks.append(IndexedChunk(chunk, np.array([1.0, 0.0], np.float32), counts, {}, spans, rows))
    weights = {
        word: rarity(len(chunks), sum(not word.isdisjoint(chunk.terms) for chunk in chunks)) for word in asked.words
    }
    vector = np.array([1.0, 0.0], np.float32)
    return Evidence(question, language or asked.language, vector, weights, tuple(results), tuple(chunks))


def text(content: str, **metadata: str) -> Document:
    """A document in English."""
    return Document.from_text(content, language="en", **metadata)


def chat(*messages: tuple[str | None, str]) -> Document:
    """A chat, a message a minute."""
    content, parts = "", []
    for number, (sender, body) in enumerate(messages):
        header = f"[{number}] {sender or ''}: "
        end = len(content) + len(header) + len(body) + 1
        kind = PartKind.MESSAGE if sender else PartKind.NOTICE
        moment = START + timedelta(minutes=number)
        parts.append(Part(len(content), end, kind, time=moment, sender=sender, body=len(content) + len(header)))
        content += f"{header}{body}\n"
    return Document("chat", content, title="Friends", type=DocumentType.CHAT, language="en", parts=tuple(parts))


def quotes(evidence: Evidence, count: int = 3, gate: Gate | None = None) -> list[str]:
    """The quotes of the answer, each verified."""
    answer = ExtractiveAnswerer(gate, count).answer(evidence)
    assert answer.answered
    assert answer.text.count("\n") + 1 == len(answer.citations)
    documents = {result.document.id: result.document for result in evidence.results}
    for number, (line, citation) in enumerate(zip(answer.text.splitlines(), answer.citations, strict=True), 1):
        assert line.endswith(f"“{' '.join(citation.quote.split())}” [{number}]")
        assert documents[citation.document_id].content[citation.start : citation.end] == citation.quote
    return [citation.quote for citation in answer.citations]


FACTS = "Paris lies on the Seine. The capital of France is Paris. Bread is made of flour. Wine is made of grapes."


def test_the_sentence_that_answers_comes_first() -> None:
    assert quotes(collect("What is the capital of France?", text(FACTS)), 1) == ["The capital of France is Paris."]
    assert quotes(collect("What is wine made of?", text(FACTS)))[0] == "Wine is made of grapes."


def test_closeness_decides_between_sentences_with_the_same_words() -> None:
    document = text("The tower is tall. The tower is old.")
    assert quotes(collect("tower", document, similarities=[0.8, 0.85])) == ["The tower is old.", "The tower is tall."]


def test_a_sentence_that_asks_comes_after_its_reply() -> None:
    document = chat(("Ana", "When is the meeting tomorrow?"), ("Luis", "The meeting is at ten"), ("Ana", "Thanks!!"))
    evidence = collect("When is the meeting tomorrow?", document, similarities=[0.9, 0.88, 0.86])
    assert quotes(evidence)[0] == "The meeting is at ten"


def test_a_further_quote_has_support_of_its_own() -> None:
    document = chat(("Luis", "The wifi password is blue dog"), ("Ana", "Thanks!!"), ("Luis", "Welcome"))
    assert quotes(collect("What is the wifi password?", document, similarities=[0.9, 0.87, 0.87])) == [
        "The wifi password is blue dog"
    ]
    second = chat(("Luis", "The wifi password is blue dog"), ("Ana", "The wifi is down"))
    assert len(quotes(collect("What is the wifi password?", second, similarities=[0.9, 0.85]))) == 2


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
    answer = ExtractiveAnswerer(None).answer(collect("When does the flight leave?", document))
    assert answer.text == "Luis (2024-03-05 21:16): “The flight leaves on Friday.” [1]"
    assert answer.citations[0].location.senders == ("Luis",)
    timeless = replace(document, parts=tuple(replace(part, time=None) for part in document.parts))
    assert ExtractiveAnswerer(None).answer(collect("flight", timeless)).text.startswith("Luis: “The flight")


def test_a_document_answer_is_the_quote() -> None:
    answer = ExtractiveAnswerer(None).answer(collect("What do cats do?", text("Cats\npurr.")))
    assert answer.text == "“Cats purr.” [1]"
    assert (answer.reason, answer.confidence, answer.language) == (Reason.ANSWERED, 1.0, "en")


def test_without_a_gate_nothing_is_refused_and_with_one_weak_evidence_is() -> None:
    evidence = collect("How do rockets fly?", text("Cats purr."), similarities=[0.1])
    assert quotes(evidence) == ["Cats purr."]
    answer = ExtractiveAnswerer(E5_SMALL).answer(evidence)
    assert (answer.answered, answer.reason, answer.citations) == (False, Reason.WEAK_EVIDENCE, ())
    assert answer.text == REFUSAL["en"]
    assert answer.confidence < E5_SMALL.threshold
    assert answer.results == evidence.results


def test_nothing_to_quote_is_nothing_found() -> None:
    for evidence in (collect("Why?"), collect("Why?", text("# Only a heading"))):
        assert ExtractiveAnswerer(None).answer(evidence).reason is Reason.NOTHING_FOUND


def test_content_that_no_longer_matches_is_no_answer() -> None:
    evidence = collect("What do cats do?", text("Cats purr."))
    changed = tuple(replace(each, document=replace(each.document, content="Dogs bark.")) for each in evidence.results)
    answer = ExtractiveAnswerer(None).answer(replace(evidence, results=changed))
    assert (answer.answered, answer.reason) == (False, Reason.NOTHING_FOUND)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("pt", PORTUGUESE),
        ("es", "Los documentos no lo dicen."),
        ("en", "The documents don't say."),
        ("fr", "The documents don't say."),
        ("", "The documents don't say."),
    ],
)
def test_refusals_speak_the_questions_language(language: str, sentence: str) -> None:
    evidence = replace(collect("x", text("Cats purr.")), language=language)
    for reason in (Reason.WEAK_EVIDENCE, Reason.NOTHING_FOUND):
        answer = refuse(evidence, reason)
        assert (answer.text, answer.answered, answer.language) == (sentence, False, language)
    assert refusal(Reason.EMPTY_LIBRARY, language) == EMPTY_LIBRARY.get(language, EMPTY_LIBRARY["en"])


def test_a_portuguese_question_without_answer() -> None:
    evidence = collect("Qual é a capital da França?", text("Cats purr."))
    assert ExtractiveAnswerer(NEVER).answer(evidence).text == PORTUGUESE


def test_what_speaks_for_a_sentence_by_hand() -> None:
    document = text("The red house stands. It was sold in May.", title="Oak street")
    evidence = collect("red house street sold", document, similarities=[0.7, 0.6])
    weight = rarity(1, 1)
    assert list(evidence.word_weights.values()) == [weight] * 4
    first, second = sentences(evidence)
    assert (first.coverage, first.context, first.chunk_coverage) == pytest.approx((0.5, 0.25, 1.0))
    assert (second.coverage, second.context, second.chunk_coverage) == pytest.approx((0.25, 0.75, 1.0))
    assert (first.similarity, second.similarity) == pytest.approx((0.7, 0.6))
    assert (first.text, second.text) == ("The red house stands.", "It was sold in May.")
    # .5 + .3 · .25 + 1 and .25 + .3 · .75 + 1 − 3 · .1
    assert [support for _, support in rank([first, second])] == pytest.approx([1.575, 1.175])
    assert rank([]) == []


def test_the_sender_and_the_message_before_are_a_messages_setting() -> None:
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


SENTENCE = next(sentences(collect("cats", text("Cats purr."))))


@given(
    st.sampled_from(["coverage", "context", "chunk_coverage", "similarity"]),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.floats(0, 1),
)
def test_more_evidence_never_makes_an_answer_less_likely(name: str, values: list[float], more: float) -> None:
    features = dict(zip(("coverage", "context", "chunk_coverage", "similarity"), values, strict=True))
    less = replace(SENTENCE, **features)
    better = replace(SENTENCE, **{**features, name: max(features[name], more)})
    assert 0 <= E5_SMALL.probability(less) <= E5_SMALL.probability(better) <= 1


def test_probability_by_hand_and_at_the_extremes() -> None:
    sentence: Sentence = replace(SENTENCE, coverage=0.5, context=0.25, chunk_coverage=1.0, similarity=0.8)
    assert Gate(2.0, 1.0, 5.0, -6.5).probability(sentence) == pytest.approx(1 / (1 + np.exp(-0.0)))
    assert Gate(0, 0, 0, 1e6).probability(sentence) == pytest.approx(1.0)
    assert Gate(0, 0, 0, -1e6).probability(sentence) == pytest.approx(0.0)


def test_with_the_real_vectors(embedder: Embedder) -> None:
    document = text(FACTS + " The library opens at nine. It closes at eight in the evening.")
    evidence = collect("When does the library close?", document)
    (result,), (chunk,) = evidence.results, evidence.chunks
    (vectors,) = embedder.embed_passages([Passage(result.chunk.indexed_text, chunk.sentences)])
    real = replace(
        evidence,
        vector=embedder.embed_query(evidence.question),
        chunks=(replace(chunk, vector=vectors.whole, sentence_vectors=vectors.spans),),
    )
    assert quotes(real)[0] == "It closes at eight in the evening."
    refused = ExtractiveAnswerer(E5_SMALL).answer(
        replace(
            real,
            vector=embedder.embed_query("Who invented the telephone?"),
            word_weights={frozenset({"invent"}): 1.0, frozenset({"telephon"}): 1.0},
        )
    )
    assert refused.reason is Reason.WEAK_EVIDENCE
