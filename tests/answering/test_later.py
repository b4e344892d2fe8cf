"""What a sender says later of what a quote names follows the quote."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import answerable
from answerable import Library
from answerable.sources.whatsapp.read import read_chat

CHAT = """10/02/2025, 19:03 - Elena: ¿Vamos a Lisboa en Semana Santa?
10/02/2025, 19:07 - Tom: Busco piso para cuatro
11/02/2025, 08:12 - Tom: Encontré un piso para dormir en Graça por 120 la noche
11/02/2025, 08:20 - Elena: Graça me encanta
13/02/2025, 09:01 - Tom: El de Graça ya no está. Reservé otro en Alfama, 135 la noche
15/02/2025, 17:35 - Elena: Ya he comprado las entradas del Oceanario, 25 euros cada una"""


@pytest.fixture(scope="module")
def trip() -> Iterator[Library]:
    with answerable.open(":memory:") as library:
        library.add_documents([read_chat(CHAT, "Chat de WhatsApp con Viaje.txt")])
        yield library


def test_the_same_sender_s_later_message_follows(trip: Library) -> None:
    answer = trip.ask("¿Qué piso para dormir encontró Tom?")
    first, second, *_ = answer.citations
    assert first.quote == "Encontré un piso para dormir en Graça por 120 la noche"
    assert second.quote == "El de Graça ya no está. Reservé otro en Alfama, 135 la noche"
    assert "Más tarde: Tom (2025-02-13 09:01): “El de Graça ya no está." in answer.text


def test_a_name_that_nobody_takes_up_has_nothing_later(trip: Library) -> None:
    answer = trip.ask("¿Cuánto costaron las entradas del Oceanario?")
    assert "25 euros" in answer.citations[0].quote
    assert "Más tarde" not in answer.text
