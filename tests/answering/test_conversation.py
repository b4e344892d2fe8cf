"""Test which questions are follow-ups, and the text that is then searched for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.follow_up_rewriting import CARRIED_WORDS, LONGEST_WORD, Turn, is_follow_up, next_turn
from answerable.answering.messages import asks_to_go_on, read_words

FOLLOW_UPS = """
and on Sunday? | when does it leave? | what about students? | how about pensioners
and for students? | why? | how much?
how much is it? | where is it | who said that? | at what time? | on Sunday? | Sunday?
And Marta? | who paid? | what else?
which one is cheaper? | what does this mean? | What did they decide? | Did Marta book it? | what is his phone number?
but is it free? | how long does it take? | and in August? | until when? | what's its price?
who's she? | can I return it?
and how much is the breakfast? | How many of them? | how many tools does it lend? | IS IT FREE? | What’s its price?
¿y cuánto cuesta? | ¿quién lo dijo? | ¿Y el domingo? | ¿y para estudiantes? | ¿y Marta? | y el hotel? | ¿cuánto cuesta?
cuanto cuesta | ¿cuándo sale? | ¿a qué hora? | ¿a qué hora sale? | ¿Dónde la compró? | ¿quién las reservó? | ¿por qué?
¿Puedo devolverlo? | ¿Cuál es su precio? | ¿y eso por qué? | ¿qué tal los domingos? | ¿cuánto cuesta por persona?
¿qué le dijo? | ¿Quién más? | pero ¿cuándo? | ¿hay otra opción? | ¿cómo se llama ella? | ¿y con desayuno?
¿Y quién lo paga? | entonces, ¿cuándo? | ¿O el lunes?
e a de volta? | e no verão? | E a alface? | e para estudantes? | Quanto custa? | quando ele chega? | quem disse isso?
onde fica? | por quê? | e quanto custa? | e os domingos? | Posso levá-lo? | e quanto aos estudantes? | mas quando?
qual é o preço dele? | quem a comprou? | E no inverno? | a que horas? | e eles? | quanto tempo leva? | o que ela disse?
quanto custa por pessoa? | e se chover? | qual deles? | Quanto sol ela precisa?
"""
REQUESTS_TO_GO_ON = """
explain that in simpler words | Explain that in simpler words, please. | give an example
Can you give me another example? | give me more details | Can you give me some more information?
tell me more | Tell me a bit more about that. | go on | summarise what you told me | Summarize that in two sentences
what do you mean? | and then? | Could you explain it again, step by step?
explícamelo con palabras más sencillas | ¿Me lo puedes explicar mejor? | un ejemplo? | dame un ejemplo | cuéntame más
¿Puedes resumir eso? | resúmelo en dos frases | y luego? | más detalles por favor | explica eso de nuevo
dame más detalles
Explica isso com palavras mais simples? | me dá um exemplo | conta mais | resume isso em poucas palavras | e depois?
mais detalhes | me dá mais detalhes | o que você quer dizer? | pode explicar melhor? | Resuma o que você me disse
"""
NEW_QUESTIONS = """
What time does the library open on Saturday? | How long does the warranty last?
How many tools may I borrow? | warranty?
Who is Julián? | And who is Julián? | What is descaling? | Where is the hotel? | Is it possible to borrow tools? | hello
How long does it take to descale the machine? | Are there any restaurants in Oaxaca? | What did Ana say to her mother?
Does the bus leave if it rains? | What happens this week at the hotel? | How do I register?
What is the price of it all?
And how long does the warranty of the espresso machine last? | Who won the football World Cup in 1998? | wifi password
Is the library closed in August? | Which hotel did Julián book? | In which city was Ana born? | GLD-4471
¿Cuál es el código de la reserva? | ¿Cuánto cuesta la entrada? | ¿dónde esta el hotel? | ¿Qué dijo Marta sobre el hotel?
¿Quién es Julián? | ¿qué es la descalcificación? | ¿Qué hotel reservó Julián?
¿Es alérgica Ana al cacahuate? | ¿Hay wifi?
¿Y cuál es el código de la reserva del hotel Las Golondrinas? | contraseña del wifi | ¿Qué hay esta semana? | hola
¿Quién lleva el botiquín? | ¿Qué es lo mejor del mercado? | ¿Qué le dijo Marta a Ana? | ¿De qué hablan en la charla?
¿Cuánto cuesta el autobús a Oaxaca? | ¿A qué hora sale el autobús?
Quando a alface fica pronta? | Quanto sol é necessário? | Quem ganhou a copa do mundo em 1998? | Onde fica o hotel?
Qual é o prazo de entrega? | Como combater os pulgões? | O que é húmus de minhoca? | Quem é Ana?
E possível levar livros?
Give an example of a topic | explain the gate | tell me more about nodes | un ejemplo de nodo | resume el contrato
explica el capítulo 3
Quantas horas de sol o manjericão precisa? | Com que frequência devo trocar a terra dos vasos?
A alface precisa de sol?
東京はどこですか | ??? | 👍
"""


def questions(table: str) -> list[str]:
    return [question.strip() for line in table.strip().splitlines() for question in line.split("|")]


SAMPLES = questions(FOLLOW_UPS + REQUESTS_TO_GO_ON + NEW_QUESTIONS)


def searched(*asked: str) -> list[str]:
    """What each question of a conversation is searched for."""
    turn: Turn | None = None
    found = []
    for question in asked:
        turn = next_turn(question, turn)
        found.append(turn.searched)
    return found


def test_follow_ups() -> None:
    failed = [question for question in questions(FOLLOW_UPS) if not is_follow_up(question)]
    assert failed == []


def test_questions_that_are_no_follow_ups() -> None:
    for question in [question for question in questions(NEW_QUESTIONS) if "it all" not in question]:
        assert not is_follow_up(question), question
        assert searched("What does Ana say about room 12 in Oaxaca?", question)[1] == question, question


def test_a_request_to_go_on_searches_for_what_was_asked_before() -> None:
    for request_to_go_on in questions(REQUESTS_TO_GO_ON):
        assert is_follow_up(request_to_go_on), request_to_go_on
        asked = searched("When does the bus leave?", "how much does it cost?", request_to_go_on, "and on Sunday?")
        assert asked[2] == asked[1] == "bus how much does it cost?", request_to_go_on
        assert "bus" in asked[3], request_to_go_on


def test_the_first_question_is_searched_for_as_it_is() -> None:
    assert next_turn(" and on Sunday? ") == Turn("and on Sunday?", "and on Sunday?")


def test_words_that_are_carried_over() -> None:
    cases = [
        ("What time does the library open on Saturday? | and on Sunday?", "library open and on Sunday?"),
        ("How often should I descale the machine? | how long does it take?", "descale machine how long does it take?"),
        ("When does the bus leave? | how much does it cost?", "bus how much does it cost?"),
        ("How much is membership for adults? | what about students?", "membership for adults what about students?"),
        ("How much is membership for adults? | and for students?", "membership and for students?"),
        ("What did Julián say about the hotel? | and Marta?", "say about hotel and Marta?"),
        ("Who booked room 12 in Oaxaca? | and 14?", "booked room in Oaxaca and 14?"),
        ("When is the loan due in March 2024? | and in April?", "loan due in 2024 and in April?"),
        ("When is the loan due in 2024? | and in 2025?", "loan due and in 2025?"),
        ('Where is "blue door" written? | why?', '"blue door" written why?'),
        ("How much is parking? | how much is the parking on it?", "how much is the parking on it?"),
        ("¿Cuál es el código de la reserva? | ¿quién lo dijo?", "código de reserva ¿quién lo dijo?"),
        ("¿A qué hora sale el autobús de ida? | ¿y el de regreso?", "sale autobús ¿y el de regreso?"),
        ("¿A qué hora sale el autobús a Puebla? | ¿y cuánto cuesta?", "autobús a Puebla ¿y cuánto cuesta?"),
        ("¿Cómo limpio la máquina? | ¿cuánto tarda?", "limpio máquina ¿cuánto tarda?"),
        ("¿Qué dijo Ana Lucía del hotel? | ¿y Julián?", "dijo del hotel ¿y Julián?"),
        ("Que horas é a passagem de ida? | e a de volta?", "passagem e a de volta?"),
        ("Quando a alface fica pronta? | Quanto sol ela precisa?", "alface fica Quanto sol ela precisa?"),
        ("Onde fica a sala 12? | e a 14?", "fica sala e a 14?"),
    ]
    failed = [
        (conversation, got) for conversation, last in cases if (got := searched(*questions(conversation))[-1]) != last
    ]
    assert failed == []


def test_another_thing_takes_the_place_of_the_one_before() -> None:
    cases = [
        ("How much did the dress cost? | and the boiler?", "How much did the boiler cost?"),
        ("How much did the dress cost? | and the boiler? | and the fridge?", "How much did the fridge cost?"),
        ("Where is the hotel in Oaxaca? | what about the airport?", "Where is the airport in Oaxaca?"),
        ("¿Cuánto costó el vestido de novia? | ¿y el boiler?", "¿Cuánto costó el boiler?"),
        (
            "¿Quién trae la torta al cumpleaños de Ana? | ¿y las bebidas?",
            "¿Quién trae las bebidas al cumpleaños de Ana?",
        ),
        ("Quando foi consertada a máquina de lavar? | e o fogão?", "Quando foi consertada o fogão?"),
        ("Quanto custou o vestido? | e a caldeira?", "Quanto custou a caldeira?"),
        ("Quando a alface fica pronta? | e o manjericão?", "Quando o manjericão fica pronta?"),
        ("¿Dónde queda la piscina? | ¿y el horario?", "queda piscina ¿y el horario?"),
        ("What time does the pool open? | and the price?", "pool open and the price?"),
    ]
    failed = [
        (conversation, got) for conversation, last in cases if (got := searched(*questions(conversation))[-1]) != last
    ]
    assert failed == []


def test_a_topic_is_kept_and_verbs_are_dropped() -> None:
    assert searched(
        "What time does the library open on Saturday?",
        "and on Sunday?",
        "how much does it cost?",
        "and for students?",
        "where is it?",
        "How long does the warranty last?",
        "why?",
    ) == [
        "What time does the library open on Saturday?",
        "library open and on Sunday?",
        "library on Sunday how much does it cost?",
        "library on Sunday cost and for students?",
        "library on Sunday for students where is it?",
        "How long does the warranty last?",
        "warranty last why?",
    ]


def test_names_and_numbers_are_kept_longest() -> None:
    follow_ups = [f"and the {word}?" for word in "roof wall door floor lamp chair table shelf window garden".split()]
    last = searched("What does Julián say about GLD-4471?", *follow_ups)[-1]
    assert "Julián" in last
    assert "GLD-4471" in last
    assert "roof" not in last


@given(st.lists(st.one_of(st.text(max_size=300), st.sampled_from(SAMPLES)), max_size=30))
def test_own_words_are_never_lost_and_nothing_grows_without_bound(asked: list[str]) -> None:
    turn: Turn | None = None
    for question in asked:
        before, turn = turn, next_turn(question, turn)
        if before and asks_to_go_on(question):
            assert turn == before
        elif before and turn.question != question.strip():
            # "And the boiler?" is the question before about another thing.
            assert all(word.text in turn.question for word in read_words(question) if word.is_content)
            assert len(turn.question) <= len(before.question) + len(question)
        else:
            assert turn.question == question.strip()
        assert turn.searched.endswith(turn.question)
        assert len(turn.searched) - len(turn.question) <= CARRIED_WORDS * (LONGEST_WORD + 20)
        assert len(turn.verbs) <= CARRIED_WORDS
        assert next_turn(question, None).searched == question.strip()


@given(st.text(alphabet=" ?¿.,-\"'yeandoitABab1\n", max_size=200), st.text(max_size=200))
def test_any_text_is_accepted(first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        assert next_turn(other, next_turn(one)).searched.endswith(other.strip())


def test_long_texts_take_little_time() -> None:
    huge = "and it " * 200_000
    turn = next_turn(huge, next_turn("x" * 1_000_000 + " When does the bus leave?"))
    assert turn.searched == huge.strip()
    assert len(next_turn("and on Sunday?", turn).searched) < 700
