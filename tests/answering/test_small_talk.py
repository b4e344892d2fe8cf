"""Test that small talk gets an explanation of how to ask, but "hello, when is it due?" counts as a question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import answerable
from answerable import Library
from answerable.answering.messages import HOW_TO_ASK, REFUSAL, is_small_talk, small_talk_language
from answerable.datatypes import Exchange, Reason
from answerable.sources.markdown import read_markdown

SAID = {
    "en": """hi;Hello!;good morning!;ok thanks;thank you so much for your help;Hi there;hey, how are you?;who are you?
what can you do?;What can you do for me?;help;can you help me?;bye;what's your name?;hello, what can you do
tell me about yourself;are you a robot?;thanks, see you later;nice;hi, who are you and what can you do?;hello again
that's great, thanks;what can I ask?""",
    "es": """hola;¡Hola!;buenos días;Buenas tardes;muchas gracias;gracias, perfecto;¿Quién eres?;¿qué puedes hacer?
que sabes hacer;ayuda;¿puedes ayudarme?;¿cómo te llamas?;adiós;vale, gracias;¿qué tal?;hola, ¿cómo estás?
¿cómo funcionas?;¿para qué sirves?;muy bien, gracias;¿en qué me puedes ayudar?;gracias por todo""",
    "pt": """olá;Oi!;bom dia;boa tarde;Obrigada!;muito obrigado;o que você sabe fazer?;quem é você?;o que você faz?
tudo bem?;oi, tudo bem?;ajuda;como você pode me ajudar?;valeu;tchau;até logo;beleza, obrigado;como você se chama?
para que você serve?;qual é o seu nome?;quem é você e o que faz?""",
}
ASKED = """hello, when is the rent due?;hi, rent?;thanks, and the boiler?;ok, and when is it?;what day?;which day is it?
where do we meet?;is it good?;what is the name?;is the night ok?;¿qué día es?;que dia é?;thanks. and before that?
ok and before that;can you do it?;can you repeat that?;why?;and on Sunday?;who can help me with the boiler?
who can help?;tell me more;can you explain that?;do you know when it ends?;give me an example;good, but how much is it?
perfecto, ¿y el domingo?;gracias, ¿cuánto cuesta?;hola, ¿dónde es la cena?;¿qué tal el hotel?;como está a Ana?
bom dia, que horas abre?;obrigado, e a volta?;valeu, e quanto custa?;ajuda de custo;a casa é boa?;morning shift
what do you know about Ana?;help desk phone number;nice hotel?;is it ok to smoke?;¿está bien?;qual é o nome?
what is in here?;is that ok?;thank you letter;o que ele sabe fazer?;quem pode ajudar?;quem serve?;¿cuál es tu dirección?
how old are you?;when do you open?;how can I help Ben?;¿cómo va la obra?;where do they work?"""


def listed(text: str) -> list[str]:
    return [each for line in text.splitlines() for each in line.split(";")]


def test_greetings_thanks_and_questions_about_the_assistant() -> None:
    failed = [
        (said, got)
        for language, text in SAID.items()
        for said in listed(text)
        if (got := small_talk_language(said)) != language
    ]
    assert failed == []


def test_a_question_is_no_small_talk() -> None:
    assert [asked for asked in listed(ASKED) if is_small_talk(asked)] == []


def test_in_the_first_message_this_is_the_assistant() -> None:
    cases = ["what is this?", "how does this work?", "¿para qué sirve esto?", "o que é isso?"]
    assert [is_small_talk(asked) for asked in cases] == [False] * 4
    assert [small_talk_language(asked, is_first=True) for asked in cases] == ["en", "en", "es", "pt"]


def test_a_word_of_several_languages_is_in_the_likely_one() -> None:
    assert [small_talk_language("ok", likely) for likely in ("pt", "es", "")] == ["pt", "es", "en"]


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    with answerable.open(":memory:") as made:
        made.add_documents(
            [
                read_markdown("# Lease\n\nThe rent is 850 euros. The rent is due on the first.\n", "lease.md"),
                read_markdown("# Alergias\n\nRecuerden que soy alérgica al cacahuate.\n", "alergias.md"),
            ]
        )
        yield made


HISTORY = [Exchange("How much is the rent?", "How much is the rent?", "850 euros")]


@pytest.mark.parametrize("history", [[], HISTORY])
@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("hello", "en"),
        ("thanks!", "en"),
        ("quién eres?", "es"),
        ("o que você sabe fazer?", "pt"),
        ("what can you do?", "en"),
    ],
)
def test_without_a_model_it_says_how_to_ask(
    library: Library, message: str, language: str, history: list[Exchange]
) -> None:
    answer = library.ask(message, history=history)
    assert (answer.text, answer.language, answer.citations) == (HOW_TO_ASK[language], language, ())
    assert (answer.answered, answer.reason, answer.results) == (True, Reason.SMALL_TALK, ())


def test_a_message_without_a_word_to_search_for_is_told_how_to_ask(library: Library) -> None:
    assert [library.ask(message).reason for message in ("what is this?", "why?", "??", "👍")] == [Reason.SMALL_TALK] * 4
    assert library.ask("And why?", history=HISTORY).reason is not Reason.SMALL_TALK
    # Of a part of the library it is a question.
    assert library.ask("what is this?", where={"title": "Lease"}).reason is not Reason.SMALL_TALK


def test_a_question_after_a_greeting_is_answered(library: Library) -> None:
    assert "on the first" in library.ask("hello, when is the rent due?").text


def test_thanks_do_not_end_the_subject(library: Library) -> None:
    thanked = [*HISTORY, Exchange("thanks!", "thanks!", "…")]
    assert "on the first" in library.ask("And when is it due?", history=thanked).text


def test_refusals_have_one_tone() -> None:
    assert REFUSAL == {
        "en": "The documents don't say.",
        "es": "Los documentos no lo dicen.",
        "pt": "Os documentos não dizem.",
    }
