from __future__ import annotations

import re

import answerable
from answerable import Library
from answerable.computing.asked import EDGES, listing, may_be_about_library
from answerable.datatypes import Exchange, Reason, Span
from answerable.retrieval.times import fold_in_place


def test_the_library_knows_itself(club: Library) -> None:
    cases: list[tuple[str, str, list[str]]] = [
        (
            "how many documents are there?",
            "The library has 5 documents:",
            ["gastos.csv", "members.md", "boathouse.txt"],
        ),
        ("¿cuántos archivos hay en la biblioteca?", "La biblioteca tiene 5 documentos:", ["gastos.csv"]),
        ("quantos documentos tem aqui", "A biblioteca tem 5 documentos:", ["notas.json"]),
        ("how many chats do I have", "The library has 1 document:", ["Lake house.txt"]),
        ("what is in here?", "The library has 5 documents:", ["gastos.csv", "members.md"]),
        ("qué documentos tengo", "La biblioteca tiene 5 documentos:", ["gastos.csv"]),
        ("o que tem aqui?", "A biblioteca tem 5 documentos:", ["gastos.csv"]),
        ("which documents do you have?", "The library has 5 documents:", ["gastos.csv"]),
        ("¿Qué documentos hay?", "La biblioteca tiene 5 documentos:", ["gastos.csv"]),
        ("que documentos você tem?", "A biblioteca tem 5 documentos:", ["gastos.csv"]),
        ("what chats are there?", "The library has 1 document:", ["Lake house.txt"]),
        ("which documents do I have about the boiler?", "1 document mentions “boiler”:", ["boathouse"]),
        ("is there a file about the boiler?", "1 document mentions “boiler”:", ["boathouse"]),
        ("¿qué documentos tengo sobre Marta?", "1 documento menciona “Marta”:", ["gastos"]),
        ("que documentos há da Ana?", "3 documentos mencionam “Ana”:", ["gastos", "members.md"]),
        ("which files mention the boiler?", "1 document mentions “boiler”:", ["boathouse"]),
        ("en qué documentos aparece Marta", "1 documento menciona “Marta”:", ["gastos"]),
        ("quais arquivos falam de Ana?", "3 documentos mencionam “Ana”:", ["gastos", "members.md"]),
        ("who is in the chat?", "3 people", ["Ben: 3 messages", "Ana: 2 messages"]),
        ("quienes están en el grupo", "3 personas", ["Ben: 3 mensajes"]),
        ("quem está no grupo?", "3 pessoas", ["Ben: 3 mensagens"]),
    ]
    for question, first_line, names in cases:
        answer = club.ask(question)
        assert answer.answered, question
        assert first_line in answer.text.splitlines()[0], question
        assert all(name in answer.text for name in names), question
        assert answer.citations, question
        for citation in answer.citations:
            assert club.document(citation.document_id).content[citation.start : citation.end] == citation.quote


def test_what_no_document_mentions(club: Library) -> None:
    answer = club.ask("which documents mention zebras?")
    assert (answer.answered, answer.reason) == (False, Reason.NOTHING_FOUND)
    assert answer.text == "No document mentions “zebras”."


def test_other_questions_are_not_about_the_library(club: Library) -> None:
    cases = [
        "what documents do I need for the visa?",
        "how many documents does the notary want",
        "what documents do I have to bring?",
        "quais documentos tenho de levar?",
        "what is the document about?",
        "what is there for lunch?",
        "what is the library?",
        "cuántas páginas tiene el libro rojo",
        "who is the treasurer",
    ]
    failed = [
        question
        for question in cases
        if re.search(r"library has|mention|menciona|tem \d", club.ask(question).text.splitlines()[0])
    ]
    assert failed == []


def test_which_questions_are_about_the_library() -> None:
    about = {
        "what's in this library?": "",
        "list my documents": "",
        "how many files have I added?": "",
        "cuántos PDF tengo": "",
        "muéstrame todos mis archivos": "",
        "which of my files mention the landlord?": "the landlord",
        "what documents talk about insurance": "insurance",
        "in which documents does Helen Park appear?": "helen park",
        "¿qué archivos hablan del seguro?": "seguro",
        "documentos que mencionan la caldera": "la caldera",
        "em que documentos aparece o João?": "o joao",
    }
    found = {question: listing(fold_in_place(question)) for question in about}
    assert {question: each and topic_of(question, each[1]) for question, each in found.items()} == about
    others = [
        "which documents must I hand in with the application?",
        "how many files does the backup contain?",
        "what is in the folder on the desk?",
        "what does the file say about fees?",
        "does the document mention a penalty?",
        "who has the documents?",
        "where are my documents?",
        "is my name in the file?",
        "¿qué documentos hay que presentar para la beca?",
        "que documentos tenho de levar ao consulado?",
        "quem mandou os documentos?",
        "how many people are in the group?",
        "how many pages does the book have?",
    ]
    assert [question for question in others if may_be_about_library(fold_in_place(question))] == []


def topic_of(question: str, topic: Span | None) -> str:
    return fold_in_place(question).strip(EDGES)[slice(*topic)] if topic else ""


def test_only_documents_that_pass_the_filter_are_listed(club: Library) -> None:
    assert club.ask("how many documents are there?", where={"type": "records"}).text.startswith("The library has 2")


def test_an_empty_library() -> None:
    with answerable.open(":memory:") as library:
        assert library.ask("how many documents are there?").reason is Reason.EMPTY_LIBRARY


def test_a_question_about_the_library_is_no_follow_up(club: Library) -> None:
    history = [Exchange("who wrote the most messages", "who wrote the most messages", "…")]
    assert club.ask("what is in here?", history=history).text.startswith("The library has 5 documents:")
