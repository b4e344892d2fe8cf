"""Test which kind of answer (date, number, person) a question asks for, and which sentences contain one."""

from __future__ import annotations

from dataclasses import replace

from collecting import chat, collect, text
from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.gate import Kind, asked_for, offers
from answerable.answering.sentences import Sentence, sentences

DATE, NUMBER, PERSON = Kind.DATE, Kind.NUMBER, Kind.PERSON
QUOTED = next(sentences(collect("cats", text("Cats purr."))))


def sentence(content: str) -> Sentence:
    document = replace(QUOTED.result.document, content=content)
    return replace(QUOTED, result=replace(QUOTED.result, document=document), start=0, end=len(content))


def test_kind_asked_for() -> None:
    cases: list[tuple[str, Kind | None]] = [
        ("When was it built?", DATE),
        ("since WHEN", DATE),
        ("In what year did he die?", DATE),
        ("In which century was it built?", DATE),
        ("What time does it open?", DATE),
        ("How many are there?", NUMBER),
        ("How much does it cost?", NUMBER),
        ("How old is Ana?", NUMBER),
        ("What is the population of Lima?", NUMBER),
        ("What percentage of them left?", NUMBER),
        ("Who built it?", PERSON),
        ("For whom was it built?", PERSON),
        ("Whose house is it?", PERSON),
        ("What is it?", None),
        ("Where is it?", None),
        ("Why?", None),
        ("", None),
        ("whenever", None),
        ("a whole year", None),
        # When and who both: the first.
        ("Who came when it rained?", PERSON),
        ("When did who come?", DATE),
        # A condition, not a question.
        ("What should I do when the light turns red?", None),
        ("How do I clean it when it is cold?", None),
        ("¿Cuándo se construyó?", DATE),
        ("cuando abre", DATE),
        ("¿En qué año murió?", DATE),
        ("¿Cuál es la fecha de entrega?", DATE),
        ("¿A qué hora abre?", DATE),
        ("¿Cuántas personas vinieron?", NUMBER),
        ("¿Cuánto cuesta?", NUMBER),
        ("¿Cuál es la población de Lima?", NUMBER),
        ("¿Quién lo construyó?", PERSON),
        ("¿Quiénes vinieron?", PERSON),
        ("¿Qué hago cuando la luz está roja?", None),
        ("¿Qué es esto?", None),
        ("¿Dónde está?", None),
        ("Quando foi construído?", DATE),
        ("Em que ano ele morreu?", DATE),
        ("Qual é a data da entrega?", DATE),
        ("A que horas abre?", DATE),
        ("Quantas pessoas vieram?", NUMBER),
        ("Quanto custa?", NUMBER),
        ("Qual é o preço do bilhete?", NUMBER),
        ("Quem o construiu?", PERSON),
        ("O que fazer quando a luz está vermelha?", None),
        ("Onde fica?", None),
        ("Wann wurde es gebaut?", None),
        ("什么时候", None),
    ]
    failed = [(question, kind) for question, kind in cases if asked_for(question) is not kind]
    assert failed == []


def test_whether_a_sentence_has_the_kind_asked_for() -> None:
    cases: list[tuple[str, Kind, str, bool]] = [
        ("It was built in 1893.", DATE, "When was it built?", True),
        ("It was built in 1893.", DATE, "When was it built after 1893?", False),
        ("It opens at 9:30.", DATE, "When does it open?", True),
        ("It opens on Monday.", DATE, "When does it open?", True),
        ("It closes at eight in the evening.", DATE, "When does it close?", True),
        ("It is 20 metres long.", DATE, "When was it built?", False),
        ("It was built by Ana.", DATE, "When was it built?", False),
        ("Se construyó en el siglo pasado.", DATE, "¿Cuándo se construyó?", True),
        ("Abre el miércoles.", DATE, "¿Cuándo abre?", True),
        ("Abre por la tarde.", DATE, "¿Cuándo abre?", True),
        ("Abre em março.", DATE, "Quando abre?", True),
        ("Abre pela manhã.", DATE, "Quando abre?", True),
        ("Abre em março.", DATE, "Quando abre em março?", False),
        ("There are 12 of them.", NUMBER, "How many are there?", True),
        ("There are twelve of them.", NUMBER, "How many are there?", True),
        ("There are 12 of them.", NUMBER, "How many are there of 12?", False),
        ("There are many of them.", NUMBER, "How many are there?", False),
        ("He was king Louis XIV of them.", NUMBER, "How many are there?", True),
        ("Son veintidós o treinta.", NUMBER, "¿Cuántos son?", True),
        ("São três milhões.", NUMBER, "Quantos são?", True),
        ("The mill was built by Anna Berg.", PERSON, "Who built the mill?", True),
        ("The mill was built by Anna Berg.", PERSON, "Who built the mill, Anna Berg?", False),
        ("The mill was built in stone.", PERSON, "Who built the mill?", False),
        # A capital at the beginning says nothing.
        ("Stone was used. It was good.", PERSON, "Who built the mill?", False),
        ("El molino es de Óscar.", PERSON, "¿De quién es el molino?", True),
        ("", DATE, "", False),
        ("", NUMBER, "", False),
        ("", PERSON, "", False),
    ]
    failed = [
        (content, kind, question, has_one)
        for content, kind, question, has_one in cases
        if offers(sentence(content), kind, question) is not has_one
    ]
    assert failed == []


def test_a_message_has_a_person_and_a_time() -> None:
    (message,) = sentences(collect("cake", chat(("Ana", "i brought the cake"))))
    assert [offers(message, kind, "cake") for kind in (DATE, PERSON, NUMBER)] == [True, True, False]


@given(st.text(), st.text(min_size=1), st.sampled_from(Kind))
def test_any_text_is_accepted(question: str, content: str, kind: Kind) -> None:
    assert asked_for(question) in (None, *Kind)
    assert offers(sentence(content), kind, question) in (True, False)
    # What the question names already is no answer to it.
    if content.isascii() and kind is NUMBER:
        assert not offers(sentence(content), kind, content)
