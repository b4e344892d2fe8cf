"""Which language documents and questions are in."""

from __future__ import annotations

import pytest

from answerable.analysis.languages import document_language, question_language

DOCUMENTS = {
    "en": "The library keeps every document in one place and answers questions with quotes that can be checked.",
    "es": "La biblioteca guarda todos los documentos en un solo lugar y responde preguntas con citas comprobables.",
    "pt": "A biblioteca guarda todos os documentos em um só lugar e responde às perguntas com citações verificáveis.",
    "fr": "La bibliothèque garde tous les documents au même endroit et répond aux questions avec des citations.",
    "de": "Die Bibliothek bewahrt alle Dokumente an einem Ort auf und beantwortet Fragen mit überprüfbaren Zitaten.",
    "it": "La biblioteca conserva tutti i documenti in un unico posto e risponde alle domande con citazioni.",
    "nl": "De bibliotheek bewaart alle documenten op één plek en beantwoordt vragen met citaten die kloppen.",
    "ru": "Библиотека хранит все документы в одном месте и отвечает на вопросы цитатами, которые можно проверить.",
    "zh": "图书馆把所有文件保存在一个地方，并用可以核实的引文回答问题。",
    "ja": "図書館はすべての文書を一か所に保管し、確認できる引用で質問に答えます。",
    "ar": "تحتفظ المكتبة بجميع الوثائق في مكان واحد وتجيب عن الأسئلة باقتباسات يمكن التحقق منها.",
    "hi": "पुस्तकालय सभी दस्तावेज़ों को एक ही स्थान पर रखता है और प्रश्नों के उत्तर उद्धरणों के साथ देता है।",
}


@pytest.mark.parametrize("language", DOCUMENTS)
def test_documents(language: str) -> None:
    assert document_language(DOCUMENTS[language]) == language


@pytest.mark.parametrize("text", ["", "   \n", "12 345 67.8", "?!… --- ###", "👍🏽"])
def test_nothing_to_tell_by(text: str) -> None:
    assert document_language(text) == ""
    assert question_language(text) == ""


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What time does the meeting start?"),
        ("en", "Who wrote the book?"),
        ("en", "How do I reset my password"),
        ("en", "WHERE IS THE OFFICE"),
        ("es", "¿A qué hora empieza la reunión?"),
        ("es", "cuando sale el vuelo a Lisboa"),
        ("es", "¿Quién escribió el libro?"),
        ("es", "¿Cuál es la clave del wifi?"),
        ("pt", "Que horas começa a reunião?"),
        ("pt", "Quem escreveu o livro?"),
        ("pt", "Onde fica o escritório?"),
        ("pt", "Qual é a senha do wifi?"),
        ("pt", "quando sai o voo para Lisboa"),
        ("", "Где находится офис?"),
        ("", "会議は何時ですか"),
        ("", "xyzzy"),
    ],
)
def test_questions(language: str, question: str) -> None:
    assert question_language(question) == language
