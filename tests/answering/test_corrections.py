"""Later messages and documents that change what an earlier one says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

import answerable
from answerable import Library
from answerable.answering.extractive import ExtractiveAnswerer
from answerable.datatypes import Answer
from answerable.sources.markdown import read_markdown
from answerable.sources.whatsapp.read import read_chat

EXPORTS = {
    "en": "WhatsApp Chat with Friends.txt",
    "es": "Chat de WhatsApp con Amigos.txt",
    "pt": "Conversa do WhatsApp com Amigos.txt",
}
CHANGED = [
    (
        "en",
        """Ana: morning all
Ben: so the wedding lunch is at the Rose Hotel, 2pm on the 15th
Cleo: lovely!!
Ana: who drives grandma?
Ben: me
Ana: <Media omitted>
Cleo: nice dress
Ben: bad news: the hotel flooded, they cancelled us
Ana: oh no
Ben: we got the Mill Barn instead, same time
Cleo: phew
Ana: great, telling mum""",
        "where is the wedding lunch?",
        "Mill Barn",
        "Rose Hotel",
    ),
    (
        "en",
        """Tom: practice is on Tuesday at 7 this month
Raj: ok
Lee: can"t do Tuesdays
Tom: sorry folks
Raj: lol did you see the match
Lee: amazing goal
Tom: Actually let"s make practice Thursday at 8, the hall is free then
Lee: works for me
Raj: fine""",
        "when is practice?",
        "Thursday",
        "Tuesday",
    ),
    (
        "en",
        """Mia: the bus to the lake costs 12 each
Jon: cheap
Mia: yes
Eve: I bring cake
Jon: yum
Mia: update: with only 20 of us the bus is 18 each
Eve: hm ok
Jon: still fine""",
        "how much is the bus?",
        "18",
        "12 each",
    ),
    (
        "en",
        """Pat: flight lands 18:40
Kim: I"ll pick you up
Pat: thanks!!
Kim: what do you want for dinner
Pat: anything warm
Pat: they delayed us, now landing 21:15
Kim: ok I eat first then""",
        "what time does Pat land?",
        "21:15",
        "18:40",
    ),
    (
        "en",
        """Zoe: Sam is treasurer this year
Ali: congrats Sam
Sam: thanks
Ali: fees due friday
Zoe: ok
Sam: guys I"m moving to Leeds so I can"t do it, Ali takes over as treasurer
Zoe: thank you both""",
        "who is the treasurer?",
        "Ali",
        "Sam is",
    ),
    (
        "es",
        """Lucía: La cena es en Casa Pepe el viernes a las 21
Marta: perfecto
Luis: yo llevo vino
Marta: jaja
Luis: <adjunto>
Lucía: al final cambiamos a La Tahona, Pepe está lleno
Marta: ok misma hora?
Lucía: sí
Luis: vale""",
        "donde es la cena?",
        "La Tahona",
        "Casa Pepe",
    ),
    (
        "es",
        """Ana: quedamos el sábado 9 a las 10 para pintar
Juan: vale
Ana: traed ropa vieja
Juan: jaja sí
Paz: yo llevo rodillos
Ana: chicos llueve el sábado, mejor lo pasamos al domingo 10
Juan: ok
Paz: mejor""",
        "¿qué día pintamos?",
        "domingo",
        "sábado 9",
    ),
    (
        "es",
        """Rosa: el regalo sale a 15 € por persona
Iván: bien
Rosa: quien falta?
Iván: Nuria
Nuria: ya voy
Rosa: En realidad son 18 €, había que sumar el envío
Iván: ok""",
        "cuanto cuesta el regalo por persona",
        "18 €",
        "15 €",
    ),
    (
        "es",
        """Paco: el fontanero viene mañana a las 9
Inés: estaré
Paco: gracias
Inés: compro pan?
Paco: sí porfa
Paco: ha llamado el fontanero: no puede hasta el jueves a las 12
Inés: uf vale""",
        "cuando viene el fontanero",
        "jueves",
        "mañana a las 9",
    ),
    (
        "es",
        """Eva: Dejo las llaves en el bar de Manolo
Sol: gracias
Eva: hay que cerrar bien
Sol: sí sí
Eva: el bar cierra hoy, las llaves se las he dado a la vecina del 2º B
Sol: perfecto""",
        "donde estan las llaves?",
        "2º B",
        "bar de Manolo",
    ),
    (
        "pt",
        """Bia: o churrasco é sábado na casa do Rafa
Rafa: fechado
Dani: levo carvão
Bia: boa
Rafa: kkkk
Rafa: gente, minha mãe vem, mudou para a casa da Dani
Dani: pode ser
Bia: ok""",
        "onde vai ser o churrasco?",
        "casa da Dani",
        "casa do Rafa",
    ),
    (
        "pt",
        """Zé: a reunião é dia 12 às 19h
Nina: anotado
Zé: levem o caderno
Nina: ta
Leo: bom dia
Zé: remarcaram a reunião para dia 19, mesmo horário
Leo: ok""",
        "que dia é a reunião?",
        "dia 19",
        "dia 12",
    ),
    (
        "pt",
        """Caio: o aluguel do salão é R$ 400
Lia: caro
Caio: é o preço
Lia: e a comida?
Caio: cada um leva algo
Caio: consegui desconto! o salão ficou por R$ 350
Lia: aee""",
        "quanto custa o salão?",
        "350",
        "400",
    ),
    (
        "pt",
        """Iara: o ônibus sai da praça às 6h
Davi: cedo
Iara: pois é
Davi: levo lanche
Iara: Atenção: o ônibus vai sair do posto Shell, a praça está em obras
Davi: blz""",
        "de onde sai o ônibus?",
        "posto Shell",
        "da praça às",
    ),
]
UNCHANGED = [
    (
        "en",
        """Ana: the dentist is on Monday at 10
Ben: ok
Ana: and the vet on Friday at 4
Ben: poor cat
Ana: Actually bring the cat"s papers too""",
        "when is the dentist?",
        "Monday at 10",
        "",
    ),
    (
        "es",
        """Eva: El taller de cerámica cuesta 30 €
Sol: ok
Eva: el de danza al final cuesta 45 €
Sol: uf""",
        "cuanto cuesta el taller de ceramica",
        "30 €",
        "",
    ),
    (
        "pt",
        """Zé: a reunião é dia 12 às 19h
Nina: ok
Zé: a festa mudou para dia 20
Nina: oba""",
        "que dia é a reunião?",
        "dia 12",
        "",
    ),
    (
        "en",
        """Tom: training is at the north pitch
Raj: ok
Tom: the match moved to the south pitch on Sunday
Raj: fine""",
        "where is training?",
        "north pitch",
        "",
    ),
]


def ask(language: str, messages: str, question: str) -> Answer:
    """Ask about a chat whose messages are half an hour apart."""
    start = datetime(2024, 3, 4, 9)
    lines = [
        f"{start + timedelta(minutes=30 * number):%d/%m/%Y, %H:%M} - {line}"
        for number, line in enumerate(messages.splitlines())
    ]
    with answerable.open(":memory:") as library:
        library.now = lambda: datetime(2024, 4, 1)
        library.add_documents([read_chat("\n".join(lines), EXPORTS[language])])
        return library.ask(question)


@pytest.mark.parametrize(("language", "messages", "question", "latest", "outdated"), CHANGED)
def test_the_latest_comes_first(language: str, messages: str, question: str, latest: str, outdated: str) -> None:
    first = ask(language, messages, question).text.splitlines()[1]
    assert latest in first
    assert outdated not in first


def test_the_message_that_was_changed_is_said_to_be_earlier() -> None:
    language, messages, question, latest, outdated = CHANGED[1]
    lines = ask(language, messages, question).text.splitlines()
    assert (latest in lines[1], outdated in lines[2], lines[2].startswith("earlier: Tom (2024-")) == (True, True, True)


@pytest.mark.parametrize(("language", "messages", "question", "latest", "_"), UNCHANGED)
def test_a_change_of_another_thing_changes_nothing(
    language: str, messages: str, question: str, latest: str, _: str
) -> None:
    answer = ask(language, messages, question)
    assert latest in answer.text.splitlines()[1]
    assert "earlier" not in answer.text
    assert "antes:" not in answer.text


def test_a_question_about_the_first_plan_is_answered_by_it() -> None:
    messages = "Tom: practice is on Tuesday at 7\nLee: ok\nTom: Actually let's make practice Thursday at 8"
    answer = ask("en", messages, "when was practice originally going to be?")
    assert "Tuesday" in answer.text.splitlines()[1]


@pytest.fixture(scope="module")
def minutes() -> Iterator[Library]:
    texts = {
        "2024-03-02 minutes.md": "# Board minutes\n\nThe annual fee is 40 euros. Next meeting in May.\n",
        "2024-04-06 minutes.md": "# Board minutes\n\nThe board raised the annual fee: it is 55 euros from July on.\n",
        "acta 2023-01-10.md": "# Acta\n\nLa sede está en la calle Mayor 3.\n",
        "acta 2024-01-10.md": "# Acta\n\nLa sede está ahora en la plaza Nueva 8.\n",
    }
    with answerable.open(":memory:") as library:
        library.add_documents([read_markdown(text, name) for name, text in texts.items()])
        yield library


@pytest.mark.parametrize(
    ("question", "latest", "earlier"),
    [
        ("how much is the annual fee?", "55 euros", "earlier (2024-03-02): “The annual fee is 40 euros.”"),
        ("¿dónde está la sede?", "plaza Nueva 8", "antes (2023-01-10): “La sede está en la calle Mayor 3.”"),
    ],
)
def test_of_dated_documents_the_latest_comes_first(minutes: Library, question: str, latest: str, earlier: str) -> None:
    lines = minutes.ask(question).text.splitlines()
    assert latest in lines[1]
    assert lines[2] == f"{earlier} [2]"


def test_without_a_reader_nothing_is_reordered(minutes: Library) -> None:
    evidence = minutes.evidence("how much is the annual fee?")
    assert "earlier" not in ExtractiveAnswerer(None).answer(evidence).text
