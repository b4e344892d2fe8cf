"""Random tables and chats in three languages, with questions and the figures that plain Python computes for them."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import docx

MONTHS = {
    "en": "January February March April May June".split(),
    "es": "enero febrero marzo abril mayo junio".split(),
    "pt": "janeiro fevereiro março abril maio junho".split(),
}


@dataclass(frozen=True)
class Case:
    """A question about a file, the alternatives of its figure, and how many rows are behind it (-1: unchecked)."""

    language: str
    kind: str
    file: str
    content: bytes
    question: str
    figures: tuple[str, ...]
    rows: int = -1


@dataclass(frozen=True)
class Domain:
    """A table: its columns, the words in them, and the questions by what they compute.

    The columns are a date, a thing, a person, a number and a class, in this order.
    """

    language: str
    name: str
    columns: tuple[str, str, str, str, str]
    things: tuple[str, ...]
    people: tuple[str, ...]
    classes: tuple[str, ...]
    questions: dict[str, str]


@dataclass(frozen=True)
class Record:
    """A row of a made table."""

    day: date
    thing: str
    person: str
    number: float
    group: str


DOMAINS = (
    Domain(
        *("en", "repairs", ("Date", "Vehicle", "Mechanic", "Cost (£)", "Workshop")),
        *(("van", "truck", "lorry", "minibus"), ("Pete", "Olga", "Samir"), ("Hill Garage", "Fox Motors", "A1 Tyres")),
        {
            "total thing": "how much did we spend on the {thing}",
            "total group": "what was the total cost at {group}",
            "count person": "how many repairs did {person} do",
            "average thing": "average cost of the {thing} repairs",
            "most": "which was the most expensive repair",
            "count month": "how many repairs were there in {month}",
            "who": "who did the most repairs",
            "above": "how many repairs cost more than {limit} pounds",
            "list person group": "list the repairs done by {person} at {group}",
        },
    ),
    Domain(
        *("en", "book-loans", ("Borrowed", "Title", "Reader", "Pages", "Shelf")),
        *(("Emma", "Dracula", "Ulysses", "Persuasion"), ("Nia", "Tomos", "Ffion"), ("north", "south", "attic")),
        {
            "total person": "how many pages has {person} read in total",
            "count person": "how many books did {person} borrow",
            "count month": "how many loans in {month}",
            "who": "which reader borrowed the most books",
            "count thing": "how many times was {thing} borrowed",
        },
    ),
    Domain(
        *("es", "pedidos", ("Fecha", "Producto", "Cliente", "Importe (€)", "Ciudad")),
        *(("miel", "queso", "vino", "aceite"), ("Ramón", "Elvira", "Tomasa"), ("Soria", "Lugo", "Cádiz")),
        {
            "total person": "cuánto gastó {person} en total",
            "total group": "importe total de los pedidos de {group}",
            "count person": "cuantos pedidos hizo {person}",
            "average thing": "promedio de los pedidos de {thing}",
            "most": "cuál fue el pedido más caro",
            "count month": "cuantos pedidos hubo en {month}",
            "who": "quién hizo más pedidos",
            "above": "cuántos pedidos superan los {limit} euros",
            "list thing group": "qué pedidos de {thing} hay en {group}",
        },
    ),
    Domain(
        *("es", "riego-huerto", ("Día", "Bancal", "Responsable", "Litros", "Turno")),
        *(("tomates", "lechugas", "judías"), ("Begoña", "Iker", "Nora"), ("mañana", "noche", "siesta")),
        {
            "total person": "cuántos litros echó {person}",
            "total thing": "litros en total de las {thing}",
            "count person": "cuantas veces regó {person}",
            "average thing": "media de litros de las {thing}",
            "count month": "cuántos riegos en {month}",
            "who": "quien regó más veces",
        },
    ),
    Domain(
        *("pt", "vendas-feira", ("Data", "Produto", "Vendedor", "Valor (R$)", "Banca")),
        *(("mel", "doce", "queijo", "café"), ("Joana", "Pedro", "Mirela"), ("azul", "verde", "central")),
        {
            "total person": "quanto {person} vendeu no total",
            "total group": "valor total da banca {group}",
            "count person": "quantas vendas {person} fez",
            "average thing": "média das vendas de {thing}",
            "most": "qual foi a venda mais cara",
            "count month": "quantas vendas em {month}",
            "who": "quem fez mais vendas",
            "above": "quantas vendas acima de {limit} reais",
            "list thing group": "quais vendas de {thing} na banca {group}",
        },
    ),
    Domain(
        *("pt", "viagens-kombi", ("Data", "Destino", "Motorista", "Quilômetros", "Motivo")),
        *(("Santos", "Campinas", "Ubatuba"), ("Davi", "Lena", "Caio"), ("escola", "carga", "passeio")),
        {
            "total person": "quantos quilômetros {person} dirigiu",
            "total thing": "total de quilômetros para {thing}",
            "count person": "quantas viagens {person} fez",
            "average thing": "média de quilômetros das viagens para {thing}",
            "count month": "quantas viagens em {month}",
            "who": "quem fez mais viagens",
            "count group": "quantas viagens foram de {group}",
        },
    ),
)


def cases(seed: int) -> Iterator[Case]:
    """Yield some 130 cases: each domain as CSV and as a Word table, and three chats a language."""
    pick = random.Random(seed)
    for domain in DOMAINS:
        for ending in ("csv", "docx"):
            yield from _of_table(domain, ending, pick)
    for language in CHATS:
        for _ in range(3):
            yield from _of_chat(language, pick)


def _of_table(domain: Domain, ending: str, pick: random.Random) -> Iterator[Case]:
    days = sorted(date(2024, 1, 1) + timedelta(pick.randrange(170)) for _ in range(pick.randrange(18, 40)))
    fraction = (0, 0.5, 0.25) if "(" in domain.columns[3] else (0,)
    records = [
        Record(
            *(day, pick.choice(domain.things), pick.choice(domain.people)),
            *(pick.randrange(5, 900) + pick.choice(fraction), pick.choice(domain.classes)),
        )
        for day in days
    ]
    content = _written(domain, records, ending, is_iso=pick.random() < 0.5)
    asked = {
        "thing": pick.choice(domain.things),
        "person": pick.choice(domain.people),
        "group": pick.choice(domain.classes),
    }
    month, limit = pick.randrange(5), pick.choice([100, 250, 400])
    for kind, template in domain.questions.items():
        rows = [
            record
            for record in records
            if all(getattr(record, name) == value for name, value in asked.items() if name in kind.split())
            and ("month" not in kind or record.day.month == month + 1)
            and (kind != "above" or record.number > limit)
        ]
        if figures := _figures(kind, rows, domain):
            question = template.format(**asked, month=MONTHS[domain.language][month], limit=limit)
            count = -1 if kind in ("who", "most") else len(rows)
            yield Case(domain.language, kind, f"{domain.name}.{ending}", content, question, figures, count)


def _figures(kind: str, rows: Sequence[Record], domain: Domain) -> tuple[str, ...]:
    """The right figure in its notation, or the names that are right; nothing if there is none."""
    if kind.startswith("count") or kind == "above":
        return (str(len(rows)),)
    if not rows:
        return ()
    if kind == "who":
        counts = {person: sum(row.person == person for row in rows) for person in domain.people}
        return tuple(person for person, count in counts.items() if count == max(counts.values()))
    if kind.startswith("list"):
        return (str(len(rows)),)
    total = sum(row.number for row in rows)
    number = max(row.number for row in rows) if kind == "most" else total / (len(rows) if "average" in kind else 1)
    return (notation(round(number, 2), domain.language),)


def notation(number: float, language: str) -> str:
    """The number as it is written in a language."""
    text = f"{number:,.2f}".removesuffix(".00")
    return text if language == "en" else text.translate(str.maketrans(",.", ".,"))


def _written(domain: Domain, records: Sequence[Record], ending: str, is_iso: bool) -> bytes:
    day = "%Y-%m-%d" if is_iso else "%m/%d/%Y" if domain.language == "en" else "%d/%m/%Y"
    rows = [
        [
            *(record.day.strftime(day), record.thing, record.person),
            *(str(record.number) if domain.language == "en" else notation(record.number, "es"), record.group),
        ]
        for record in records
    ]
    if ending == "csv":
        mark = "," if domain.language == "en" else ";"
        return "".join(mark.join(row) + "\n" for row in [list(domain.columns), *rows]).encode()
    made = docx.Document()
    made.add_heading(domain.name.replace("-", " ").capitalize(), 1)
    table = made.add_table(rows=len(rows) + 1, cols=5)
    for row, texts in zip(table.rows, [list(domain.columns), *rows], strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


CHATS = {
    "en": ("WhatsApp Chat with Boat.txt", "Nia Owen Gwen Huw", "cat"),
    "es": ("Chat de WhatsApp con Barco.txt", "Paula Álvaro Sonia Jaime", "gato"),
    "pt": ("Conversa do WhatsApp com Barco.txt", "Lívia Murilo Sara Enzo", "gato"),
}
SAID = {
    "en": ("the boat needs paint", "who has the key?", "see you at noon", "my cat is ill", "train is late again"),
    "es": ("el barco necesita pintura", "quien tiene la llave?", "nos vemos a las doce", "mi gato esta malo"),
    "pt": ("o barco precisa de tinta", "quem tem a chave?", "até meio-dia", "meu gato está doente"),
}
ASKED = {
    "en": {
        "person": "how many messages did {person} send",
        "month": "how many messages in {month}",
        "person month photo": "how many photos did {person} send in {month}",
        "person word": "how many times did {person} mention the {word}",
        "all": "total number of messages",
    },
    "es": {
        "person": "cuántos mensajes mandó {person}",
        "month": "cuantos mensajes hubo en {month}",
        "person month photo": "cuántas fotos envió {person} en {month}",
        "person word": "cuántas veces mencionó {person} el {word}",
        "all": "número total de mensajes",
    },
    "pt": {
        "person": "quantas mensagens {person} mandou",
        "month": "quantas mensagens em {month}",
        "person month photo": "quantas fotos {person} enviou em {month}",
        "person word": "quantas vezes {person} falou do {word}",
        "all": "número total de mensagens",
    },
}


def _of_chat(language: str, pick: random.Random) -> Iterator[Case]:
    name, people, word = CHATS[language]
    senders = pick.sample(people.split(), 3)
    messages, time = [], datetime(2024, 1, 3, 9)
    for _ in range(pick.randrange(40, 90)):
        time += timedelta(hours=pick.randrange(1, 60))
        messages.append((time, pick.choice(senders), "" if pick.random() < 0.12 else pick.choice(SAID[language])))
    content = "".join(_line(language, *message) for message in messages).encode()
    person, month = pick.choice(senders), pick.randrange(3)
    for kind, template in ASKED[language].items():
        rows = [
            text
            for time, sender, text in messages
            if ("person" not in kind or sender == person)
            and ("month" not in kind or time.month == month + 1)
            and ("photo" not in kind or not text)
            and ("word" not in kind or word in text)
        ]
        question = template.format(person=person, month=MONTHS[language][month], word=word)
        yield Case(language, f"chat {kind}", name, content, question, (str(len(rows)),), len(rows))


def _line(language: str, time: datetime, sender: str, text: str) -> str:
    """A message as Android (English, Portuguese) or an iPhone (Spanish) exports it; without a text, a photo."""
    if language == "en":
        clock = f"{time.hour % 12 or 12}:{time:%M %p}"
        return f"{time.month}/{time.day}/{time:%y}, {clock} - {sender}: {text or '<Media omitted>'}\n"
    if language == "es":
        photo = "\u200eimagen omitida"
        return f"[{time:%d/%m/%Y, %H:%M:%S}] {sender}: {text or photo}\n"
    return f"{time:%d/%m/%Y %H:%M} - {sender}: {text or '<Mídia oculta>'}\n"
