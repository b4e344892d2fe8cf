"""Test language detection for documents and questions."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from answerable.text.languages import (
    _WRITTEN,
    _classifier,
    document_language,
    keyword_language,
    question_language,
)

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


def test_documents() -> None:
    failed = [(language, got) for language in DOCUMENTS if (got := document_language(DOCUMENTS[language])) != language]
    assert failed == []


def test_a_model_that_is_read_faster_says_the_same() -> None:
    model = LanguageIdentifier.from_model_file(MODEL_FILE)
    model.set_languages(_WRITTEN.split())
    pieces = [text[start:end] for text in DOCUMENTS.values() for start in (0, 1, 7) for end in (30, 60, None)]
    texts = [*pieces, *map(str.upper, pieces), *map("".join, itertools.pairwise(pieces))]
    assert [_classifier()(text) for text in texts] == [model.classify(text)[0] for text in texts]
    assert _classifier()("") == ""


def test_nothing_to_tell_by() -> None:
    for text in ["", "   \n", "12 345 67.8", "?!… --- ###", "👍🏽"]:
        assert document_language(text) == "", text
        assert question_language(text) == "", text


def test_questions() -> None:
    cases = [
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
    ]
    failed = [(question, got) for language, question in cases if (got := question_language(question)) != language]
    assert failed == []


# Short, as they are typed: without accents and inverted marks.
SHORT = {
    "en": """
        who wrote it; when does the bus leave; how much is it; where does Ana live; what time is it; what did Luis say
        is it open today; opening hours; what is the wifi password; who pays the rent; how do I get there; why not
        which street; did they win; how many people came; is there parking; what does it cost; are dogs allowed
        who is the boss; can I pay later
    """,
    "es": """
        Cuando sale el bus; donde vive Ana; cuanto cuesta; que hora es; quien es Ana; que dijo Luis; a que hora abre
        hay pan; como llego; cual es la clave del wifi; donde esta la llave; por que no vino; que dia es la reunion
        cuantos vinieron; hola; quien paga el alquiler; esta abierto hoy; cuando nacio; se puede pagar despues
        cuando es el cumple de Marta
    """,
    "pt": """
        Quanto custa; onde fica; quem e Ana; que horas sao; quando sai o onibus; onde mora a Ana; o que o Luis disse
        qual e a senha do wifi; tem pao; como chego la; por que ele nao veio; que dia e a reuniao; quantos vieram
        quem paga o aluguel; esta aberto hoje; quando nasceu; posso pagar depois; ola; onde esta a chave
        quando e o aniversario da Marta
    """,
}
ASKED = [
    (language, question.strip())
    for language, text in SHORT.items()
    for line in text.strip().split("\n")
    for question in line.split(";")
]


def test_short_questions_without_accents() -> None:
    for language, question in ASKED:
        assert question_language(question) == language, question
        assert question_language(question, ["en", "es", "pt", ""]) == language, question


def test_accents_may_be_characters_of_their_own() -> None:
    assert question_language(unicodedata.normalize("NFD", "Você não é daí?")) == "pt"


def test_there_are_sixty_of_them() -> None:
    assert len(ASKED) == 60


def test_what_two_languages_share_is_in_that_of_the_documents() -> None:
    cases = ["que tipo de arcos", "como se organiza", "de que forma", "a que se dedica"]
    for question in cases:
        assert question_language(question, ["pt"]) == "pt", question
        assert question_language(question, ["es"]) == "es", question


@pytest.mark.parametrize(
    ("language", "question"), [("en", "what time is it"), ("es", "donde esta el perro"), ("pt", "onde esta o cachorro")]
)
def test_what_is_plain_stays_so_whatever_the_documents_are_in(language: str, question: str) -> None:
    for expected in ("en", "es", "pt", "fr", ""):
        assert question_language(question, [expected]) == language


def test_letters_and_a_leading_article_tell_portuguese_from_spanish_whatever_the_documents_are_in() -> None:
    cases = {
        "pt": [
            "A clínica atende cavalos?",
            "A loja vende sapatos?",
            "A farmácia abre domingo?",
            "O hotel aceita animais?",
        ],
        "es": ["La clínica atiende caballos?", "¿A qué hora abre?", "¿A Madrid va Ana?", "El hotel acepta animales?"],
    }
    wrong = [
        (question, expected, got)
        for language, questions in cases.items()
        for question in questions
        for expected in ([], ["es"], ["pt"], ["en"], ["en", "es", "pt"])
        if (got := question_language(question, expected)) != language
    ]
    assert wrong == []


def test_questions_in_other_languages_and_names_tell_nothing() -> None:
    cases = ["Où est la gare ?", "Quel est le prix", "Wie spät ist es?", "Hoe laat is het?", "Ana"]
    failed = [(question, got) for question in cases if (got := question_language(question)) != ""]
    assert failed == []


def test_files_without_sentences_have_no_language() -> None:
    cases = [
        "BEGIN:VCARD\nVERSION:3.0\nN:Pérez;Ana;;;\nFN:Ana Pérez\nTEL;TYPE=CELL:+34 600 000 000\nEND:VCARD\n",
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Dentist\nDTSTART:20240301T100000\nEND:VEVENT\nEND:VCALENDAR\n",
        "body { color: red; margin: 0 auto }\n.h1, .h2 > a:hover { font-size: 12px; border: solid }\n" * 20,
        "name: ci\non: [push]\njobs:\n  test:\n    runs-on: ubuntu\n    steps:\n      - run: make test\n" * 20,
        "name,price\nPen,3\nCup,4\nPaper,2\n" * 20,
        '{"name": "Pen", "price": 3, "tags": ["blue", "new"]}\n' * 20,
        "[server]\nhost = localhost\nport = 80\n[client]\nretries = 3\ntimeout = none\n" * 20,
    ]
    failed = [(text, got) for text in cases if (got := document_language(text)) != ""]
    assert failed == []


def test_sentences_among_data_and_short_notes_have_one() -> None:
    cases = [
        ("es", "12/03/2024, 21:15 - Ana: hola\n12/03/2024, 21:16 - Luis: la llave está en el cajón\n" * 3),
        ("es", "nombre,nota\nLápiz,el más barato de la tienda\nTaza,se rompió en el viaje\n" * 3),
        ("en", "# The server listens on this port only.\nport: 80\n# Wait so long before the next try.\nwait: 3\n"),
        ("es", "Gracias, Ana"),
        ("pt", "Reunião às 10"),
        ("en", "Opening hours"),
    ]
    failed = [(text, got) for language, text in cases if (got := document_language(text)) != language]
    assert failed == []


def test_the_letters_of_keywords_tell_their_language() -> None:
    cases = [
        ("en", "boiler pressure"),
        ("en", "insurance renewal date"),
        ("es", "presupuesto cocina"),
        ("es", "devoluciones"),
        ("pt", "devolucao"),
        ("pt", "aviso previo cozinheiro"),
    ]
    failed = [
        (language, question)
        for language, question in cases
        if (question_language(question) or keyword_language(question, ["en", "es", "pt"])) != language
    ]
    assert failed == []


def test_letters_without_a_clear_language_tell_nothing() -> None:
    cases = ["wifi", "taxi 42", "x", "", "42", "выходной", "warum nicht"]
    failed = [question for question in cases if not (question_language(question) == keyword_language(question) == "")]
    assert failed == []
