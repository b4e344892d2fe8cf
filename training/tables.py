"""Made-up tables with questions about a cell: of a row that is there, or of a row or column that isn't."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from answerable.text.word_lists import read_toml
from training.dressing import Window


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `tables.toml`: its name, questions about its cells, and its values or their kind."""

    name: str
    asked: tuple[str, ...]
    values: str


def _schemas() -> dict[str, list[list[Column]]]:
    read = read_toml(Path(__file__).with_name("tables.toml"))
    return {
        language: [
            [Column(each["name"], tuple(each["asked"].split(" / ")), each["values"]) for each in schema["columns"]]
            for schema in schemas
        ]
        for language, schemas in read.items()
    }


SCHEMAS = _schemas()


def table(draw: random.Random) -> tuple[str, Window]:
    """Return a language, and a table with a question about it."""
    language = draw.choice(tuple(SCHEMAS))
    columns = list(draw.choice(SCHEMAS[language]))
    kept = [columns[0], *draw.sample(columns[1:], draw.choice((1, 2, 3)))]
    wanted = draw.choice(columns[1:])
    keys = columns[0].values.split("|")
    draw.shuffle(keys)
    rows = [[key, *(_value(column.values, draw) for column in kept[1:])] for key in keys[: draw.randint(1, 5)]]
    row = draw.choice([*range(len(rows)), *range(len(rows)), len(rows)])
    key = keys[row]
    question = draw.choice(wanted.asked).format(key=key if draw.random() < 0.7 else key.lower())
    is_there = row < len(rows) and wanted in kept
    cell = (row, kept.index(wanted)) if is_there else None
    if is_there and cell and draw.random() < 0.15:
        value = rows[row][cell[1]]
        if "{value}" in columns[0].asked[0] and wanted is columns[1] and sum(value in each for each in rows) == 1:
            question, cell = columns[0].asked[0].format(value=value), (row, 0)
    text, answer = _written([column.name for column in kept], rows, cell, draw)
    return language, Window(question, text, answer)


def _written(
    names: list[str], rows: list[list[str]], cell: tuple[int, int] | None, draw: random.Random
) -> tuple[str, tuple[int, int] | None]:
    """Write the table as Markdown, with commas, or as a record a line."""
    form = draw.choice(("markdown", "commas", "records"))
    text, answer = "", None
    lines = rows if form == "records" else [names, *rows]
    for number, line in enumerate(lines):
        row = number if form == "records" else number - 1
        text += "\n" if number else ""
        text += "| " if form == "markdown" else ""
        for column, value in enumerate(line):
            text += "" if not column else " | " if form == "markdown" else "," if form == "commas" else "; "
            text += f"{names[column]}: " if form == "records" else ""
            if cell == (row, column):
                answer = (len(text), len(text) + len(value))
            text += value
        text += " |" if form == "markdown" else ""
    return text, answer


def _value(kind: str, draw: random.Random) -> str:
    if kind == "money":
        amount = draw.choice((draw.randrange(3, 99), draw.randrange(100, 3000)))
        return draw.choice(
            (f"{amount} €", f"${amount}", f"{amount}.{draw.randrange(10)}0", f"R$ {amount}", f"{amount} EUR")
        )
    if kind == "count":
        return str(draw.randrange(1, 400))
    if kind == "phone":
        return " ".join(str(draw.randrange(100, 999)) for _ in range(3))
    if kind == "day":
        day, month, year = draw.randrange(1, 29), draw.randrange(1, 13), draw.randrange(1950, 2027)
        return draw.choice((f"{year}-{month:02}-{day:02}", f"{day:02}/{month:02}/{year}", f"{day}/{month}"))
    return draw.choice(kind.split("|"))
