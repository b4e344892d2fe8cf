"""Test the filters derived from questions that name a person or a time."""

from __future__ import annotations

import time
from datetime import date, datetime

from answerable.datatypes import Narrowing
from answerable.filters import matches, normalize_fields, parse_filter
from answerable.interfaces.cli.remarks import narrowed
from answerable.retrieval.narrowing import messages_of, narrow
from answerable.text.languages import question_language

SENDERS = [
    *("Ana", "Ana Lucía", "Pedro Gómez", "Juan", "Mamá", "Luz", "Will", "May", "João Silva", "+34 600 11 22 33"),
    *("~ Tía Carmen 🌸", "Marco"),
]
SPAN = date(2022, 5, 3), date(2024, 6, 1)
SUNDAY = datetime(2026, 11, 22, 15, 0)


def asked(question: str, now: datetime = SUNDAY) -> Narrowing:
    """What a question narrows the search to; empty for nothing."""
    found = narrow(question, question_language(question), SENDERS, SPAN, now)
    return found.narrowing if found else Narrowing()


def days(question: str, now: datetime = SUNDAY) -> list[str]:
    """The periods, the first and the last day of each."""
    shown = narrowed(Narrowing(periods=asked(question, now).periods)).removeprefix("messages: only ")
    return [part for part in shown.split(", ") if part]


def test_who_speaks_is_a_sender() -> None:
    cases: list[tuple[str, list[str]]] = [
        ("¿Qué dijo Ana sobre el hotel?", ["Ana"]),
        ("¿Qué dijo Ana Lucía sobre el hotel?", ["Ana Lucía"]),
        ("¿Qué dijo Lucía?", ["Ana Lucía"]),
        ("que dijo mama del perro", ["Mamá"]),
        ("¿Qué le dijo Pedro a Ana?", ["Pedro Gómez"]),
        ("¿Qué ha dicho Ana del viaje?", ["Ana"]),
        ("¿Qué opina Juan del piso?", ["Juan"]),
        ("¿Cuánto costó el regalo que compró Juan?", ["Juan"]),
        ("¿Qué hotel propuso tía Carmen?", ["~ Tía Carmen 🌸"]),
        ("¿Qué receta mandó la tía Carmen?", ["~ Tía Carmen 🌸"]),
        ("¿Qué vendía Pedro?", ["Pedro Gómez"]),
        ("Juan no quiso ir, ¿por qué?", ["Juan"]),
        ("mensajes de Ana sobre el coche", ["Ana"]),
        ("la receta de Ana", ["Ana"]),
        ("según Pedro, ¿cuánto cuesta?", ["Pedro Gómez"]),
        ("What did Ana and Pedro decide?", ["Ana", "Pedro Gómez"]),
        ("What did Will say?", ["Will"]),
        ("What does Ana think of it?", ["Ana"]),
        ("According to Juan, how much is it?", ["Juan"]),
        ("Juan never said why", ["Juan"]),
        ("What was recommended by Juan?", ["Juan"]),
        ("Ana's recipe for soup", ["Ana"]),
        ("what did +34 600 11 22 33 write?", ["+34 600 11 22 33"]),
        ("O que a Ana disse sobre o hotel?", ["Ana"]),
        ("o que disse a Ana?", ["Ana"]),
        ("segundo o Pedro, quanto custa?", ["Pedro Gómez"]),
        ("Qual foi a senha que o João Silva mandou?", ["João Silva"]),
        ("o que o joão falou do aluguel?", ["João Silva"]),
    ]
    failed = [(question, got) for question, senders in cases if (got := list(asked(question).senders)) != senders]
    assert failed == []


def test_who_is_spoken_of_and_what_is_to_come_narrow_nothing() -> None:
    cases = [
        "¿Qué le regalamos a Ana?",
        "¿Cuánto pagamos de luz?",
        "¿Cuándo se cortó la luz?",
        "el cumpleaños de Ana",
        "¿Quién mencionó a Juan?",
        "¿La hermana de Ana vive lejos?",
        "When will Juan arrive?",
        "Where does Juan live?",
        "Ana's birthday",
        "What time did Juan's flight leave?",
        "Quem encontrou a Ana?",
        "Onde mora o Pedro?",
        "¿Cuál es el código de la reserva?",
        "What is the wifi password?",
        "Qual é o preço do aluguel?",
        "I may want to know what the hotel costs",
        "¿A qué hora sale el autobús de mañana?",
        "¿Quién viene el sábado?",
        "¿Dónde es la reunión del 12 de mayo?",
        "¿qué llevamos para el 12 de mayo?",
        "¿Cuesta 2000 euros en total?",
        "What happens next week?",
        "¿Qué pasó en 1999?",
        "¿Y el 31 de febrero de 2023?",
        "13/13/2023 99/1/20",
        "",
        "¿¿??",
    ]
    failed = [(question, got) for question in cases if (got := asked(question)) != Narrowing()]
    assert failed == []


def test_when_it_was_said_is_a_period() -> None:
    cases: list[tuple[str, list[str]]] = [
        ("¿Qué dijo Ana en marzo de 2023?", ["2023-03-01 to 2023-03-31"]),
        ("¿Qué se dijo el 12 de mayo de 2022?", ["2022-05-12"]),
        ("What did Ana say on March 12, 2023?", ["2023-03-12"]),
        ("What did Ana say on 12th of March 2023?", ["2023-03-12"]),
        ("¿Qué pasó el 3/4/23?", ["2023-04-03"]),
        ("after 2023-02-03", ["since 2023-02-04"]),
        ("antes de junio de 2023", ["until 2023-05-31"]),
        ("desde marzo de 2023 hasta mayo de 2023", ["2023-03-01 to 2023-05-31"]),
        ("entre marzo y mayo de 2023", ["2023-03-01 to 2023-05-31"]),
        ("o que combinamos de 3 a 5 de maio de 2023?", ["2023-05-03 to 2023-05-05"]),
        ("a principios de marzo de 2023", ["2023-03-01 to 2023-03-31"]),
        ("en 2023 compramos un coche, ¿cuál?", ["2023-01-01 to 2023-12-31"]),
        ("mensajes de marzo de 2023", ["2023-03-01 to 2023-03-31"]),
        (
            "¿Qué dijo Ana en marzo?",
            ["2022-03-01 to 2022-03-31", "2023-03-01 to 2023-03-31", "2024-03-01 to 2024-03-31"],
        ),
        ("what was said in March 2023 and in May 2023?", ["2023-03-01 to 2023-03-31", "2023-05-01 to 2023-05-31"]),
        ("quem falou do aluguel ontem?", ["2026-11-21"]),
        ("anteayer", ["2026-11-20"]),
        ("what did they decide last week?", ["2026-11-09 to 2026-11-15"]),
        ("o que ficou combinado na semana passada?", ["2026-11-09 to 2026-11-15"]),
        ("¿qué pasó el fin de semana pasado?", ["2026-11-14 to 2026-11-15"]),
        ("What did Ana say on Monday?", ["2026-11-16"]),
        ("o que a Ana disse na segunda-feira passada?", ["2026-11-16"]),
        ("hace dos semanas dijo algo", ["2026-11-02 to 2026-11-08"]),
        ("há três meses", ["2026-08-01 to 2026-08-31"]),
        ("in the last 3 days", ["2026-11-19 to 2026-11-22"]),
        ("last March", ["2026-03-01 to 2026-03-31"]),
        ("desde ayer", ["since 2026-11-21"]),
    ]
    failed = [(question, got) for question, expected in cases if (got := days(question)) != expected]
    assert failed == []


def test_last_month_reaches_back_over_the_new_year() -> None:
    assert days("el mes pasado", datetime(2026, 1, 5)) == ["2025-12-01 to 2025-12-31"]
    assert days("hace 14 meses", datetime(2026, 1, 5)) == ["2024-11-01 to 2024-11-30"]
    assert days("ontem", datetime(2024, 3, 1)) == ["2024-02-29"]
    assert days("last March", datetime(2026, 3, 20)) == ["2025-03-01 to 2025-03-31"]


def test_the_topic_is_what_the_filter_does_not_see_to() -> None:
    found = narrow("¿Qué dijo Ana en marzo de 2023 sobre el hotel?", "es", SENDERS, SPAN, SUNDAY)
    assert found is not None
    assert found.topic.split() == ["¿Qué", "sobre", "el", "hotel?"]


def test_a_narrowing_is_a_filter() -> None:
    where = parse_filter(messages_of(asked("¿Qué dijo Ana en marzo de 2023?")))
    message = {"type": "chat", "sender": "Ana", "date": datetime(2023, 3, 31, 23, 59)}
    assert matches(where, normalize_fields(message))
    for other in ({"sender": "Juan"}, {"date": datetime(2023, 4, 1)}, {"type": "pdf"}):
        assert not matches(where, normalize_fields({**message, **other}))
    since = parse_filter(messages_of(asked("desde ayer")))
    assert matches(since, normalize_fields({"type": "chat", "date": datetime(2026, 11, 22, 9)}))


def test_the_time_grows_with_the_names_not_with_their_square() -> None:
    def seconds(names: int) -> float:
        started = time.process_time()
        asked("what did Ana say, " + "Ana " * names)
        return time.process_time() - started

    seconds(100)
    assert min(seconds(8_000) for _ in range(3)) < 8 * min(seconds(2_000) for _ in range(3))
