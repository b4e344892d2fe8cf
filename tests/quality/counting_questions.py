"""Questions that count, add up or pick rows of a table or chat, with their right answers.

cases(seed) gives 300 cases: 30 file sets (10 WhatsApp exports, 10 CSV, 10 Word tables) with 10 questions each,
100 per language. File contents, formats and the names, months and limits asked about depend on the seed.

The hand-written vocabulary is in counting_vocabulary.txt, read as follows. A table starts with
"== language source file-name"; "key = Header : maker" is a column (the column "id" has cells that occur once in the
file); "kind arg | conditions | words" is a question, where "~" marks words that differ from the column names.
Arguments: "who#" groups by who and counts, "who+amount" groups and adds, "item:amount" compares single rows and
shows item, "amount" adds or averages. Conditions: "cat=?" picks a value, "cat=x" fixes it, "cat=" is an empty cell,
"amount>?" picks a limit that no row equals, "date@month", "date@anymonth" (perhaps without rows), "date@between"
(no row falls on either bound), "text~?" picks a word of the chat.
A chat is "== language name: people", then "say" lines (message patterns), "thing" and "place" lists, "pay" lines (what
somebody paid), "word" (words to ask about) and "ask" lines (questions, two wordings separated by ";") over the columns
id (text), who, date, seq, what (text, photo, audio, link or pay) and amount.

The rows of most/least over groups are those of the winning group; the figure of a list is the number of its rows; the
figure of a message of several lines is its first line; "between" counts rows, or adds an amount if it has an argument.
"""

from __future__ import annotations

import csv
import io
import random
import re
import unicodedata
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from docx import Document

Value: TypeAlias = str | Decimal | date | None
Row: TypeAlias = dict[str, Value]
Test: TypeAlias = Callable[[Row], bool]


TABLES, CHATS = Path(__file__).with_name("counting_vocabulary.txt").read_text("utf-8").split("#### chats\n")

MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro".split(),
}
FIRST = {
    "en": "Alice Ben Chidi Dora Edward Fiona Grace Harry Imran Jess".split(),
    "es": "Adela Bruno Celia Diego Elvira Félix Gloria Héctor Inés Julio".split(),
    "pt": "Aline Benedito Clara Danilo Elisa Fábio Gisele Heitor Iara Jorge".split(),
}
LAST = {
    "en": "Marsh Patel Quinn Reed Sutton Turner".split(),
    "es": "Mora Nieto Ortiz Pardo Rubio Sanz".split(),
    "pt": "Moraes Nunes Pires Queiroz Rocha Teles".split(),
}
DATE_FORMS = {
    "en": ("{dd}/{mm}/{y}", "{y}-{mm}-{dd}", "{d} {month} {y}", "{dd} {mon} {y}", "{mm}/{dd}/{y}"),
    "es": ("{dd}/{mm}/{y}", "{dd}-{mm}-{y}", "{d} de {month} de {y}", "{y}-{mm}-{dd}", "{dd}-{mon}-{yy}"),
    "pt": ("{dd}/{mm}/{y}", "{dd}.{mm}.{y}", "{d} de {month} de {y}", "{y}-{mm}-{dd}", "{dd}/{mon}/{y}"),
}
DAY = {"en": "{d} {month}", "es": "{d} de {month}", "pt": "{d} de {month}"}
YES_NO = {"en": (("yes",), ("no",)), "es": (("sí", "si"), ("no",)), "pt": (("sim",), ("não", "nao"))}
SYSTEM = {
    "en": "Messages and calls are end-to-end encrypted. No one outside of this chat, not even WhatsApp, can read them.",
    "es": "Los mensajes y las llamadas están cifrados de extremo a extremo. Nadie fuera de este chat puede leerlos.",
    "pt": "As mensagens e ligações são protegidas com a criptografia de ponta a ponta. Toque para saber mais.",
}
CREATED = {"en": "{} created group “{}”", "es": "{} creó el grupo “{}”", "pt": "{} criou o grupo “{}”"}
ATTACHED: Mapping[str, str] = {"en": "file attached", "pt": "arquivo anexado"}
JOINED: Mapping[str, Mapping[str, str]] = {  # article and preposition run together
    "en": {},
    "es": {" a el ": " al ", " de el ": " del "},
    "pt": {f" {p} {a}": f" {j}{a}" for p, j in (("de", "d"), ("por", "pel")) for a in ("o ", "a ", "os ", "as ")},
}
ASKING = re.compile(
    r"(how|what|which|who|is|are|was|did|do|qué|cuánt\w+|cuál|quién|en qué|hay|a cuánto"
    r"|de cuánto|quant\w+|qual|quem|em qual|o que|tem|há|de quantas|de quanto|que|on average,) "
)


@dataclass(frozen=True)
class Case:
    language: str
    kind: str
    files: Mapping[str, bytes]
    question: str
    figure: str | float | int
    alternatives: tuple[str, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Ask:
    kind: str
    argument: str
    conditions: tuple[str, ...]
    words: str
    reworded: bool


@dataclass
class Source:
    """One file of a case: what it holds, the questions over it, and its words for "text~?"."""

    language: str
    files: dict[str, bytes] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


def ask(line: str) -> Ask:
    head, conditions, words = (part.strip() for part in line.split("|"))
    kind, _, argument = head.partition(" ")
    return Ask(kind, argument, tuple(c.strip() for c in conditions.split(",") if c), words.lstrip("~"), words[0] == "~")


def show_day(day: date, form: str, language: str) -> str:
    month = MONTHS[language][day.month - 1]
    return form.format(
        d=day.day, dd=f"{day.day:02}", mm=f"{day.month:02}", y=day.year, yy=day.year % 100, month=month, mon=month[:3]
    )


def show_number(value: Decimal, comma: bool, thousands: bool) -> str:
    text = f"{value:,}" if thousands else f"{value}"
    return text.translate(str.maketrans(",.", ".,")) if comma else text


def other_ways(value: Decimal) -> tuple[str, ...]:
    """The ways to write a number: with decimal point or comma, with and without thousands, shortest first."""
    values = [value.quantize(Decimal("0.01")), value.quantize(Decimal("0.1"))]
    exact = [v for v in values if v == value] or values
    exact += [value.quantize(Decimal(1))] if value == value.to_integral_value() else []
    shown = {show_number(v, c, t) for v in exact for c in (False, True) for t in (False, True)}
    return tuple(sorted(shown, key=lambda text: (len(text), text)))


def sample_days(dice: random.Random, count: int) -> list[date]:
    start = date(dice.choice((2023, 2024)), 1, 8)
    return [start + timedelta(days=d) for d in sorted(dice.sample(range(230), count))]


def column_values(maker: str, count: int, source: Source, dice: random.Random, days: Sequence[date]) -> list[Value]:
    word, _, rest = maker.partition(" ")
    if word == "day":
        return list(days)
    if word == "later?":
        return [None if dice.random() < 0.35 else d + timedelta(days=dice.randint(2, int(rest))) for d in days]
    if word == "code":
        start = dice.randint(1, 60)
        return [rest.format(start + n) for n in range(count)]
    if word == "of":
        return [dice.choice(rest.split(", ")) for _ in range(count)]
    if word == "name":
        return list(dice.sample([f"{f} {s}" for f in FIRST[source.language] for s in LAST[source.language]], count))
    if word == "each":
        heads, tails = (part.split(", ") for part in rest.split(" + "))
        return list(dice.sample([f"{h} {t}" for h in heads for t in tails], count))
    low, high, places, _unit = rest.split(" ", 3)
    unit = 10 ** int(places)
    choice = range(int(float(low) * unit), int(float(high) * unit) + 1)
    whole = dice.sample(choice, count) if len(choice) > 2 * count else dice.choices(choice, k=count)
    return [Decimal(n).scaleb(-int(places)) for n in whole]


def table(text: str, place: int, dice: random.Random) -> Source:
    """One CSV or Word file with its rows, from its description."""
    title, *lines = text.strip().splitlines()
    language, form, name = title.split(" ", 2)
    source = Source(language)
    columns = [re.split(" = | : ", line) for line in lines if "|" not in line]
    source.asks = [ask(line) for line in lines if "|" in line]
    count = dice.randint(14, 20 if " each " in text else 36)
    days = sample_days(dice, count)
    values = {key: column_values(maker, count, source, dice, days) for key, _, maker in columns}
    for n in range(count):
        source.rows.append({key: values[key][n] for key in values})
    if dice.random() < 0.4:
        dice.shuffle(source.rows)
    forms = DATE_FORMS[language]
    day_form, comma, thousands = forms[place % len(forms)], language != "en", bool(place // 2 % 2)

    def cell(value: Value, maker: str) -> str:
        if isinstance(value, date):
            return show_day(value, day_form, language)
        if isinstance(value, Decimal):
            return maker.split(" ", 4)[4].format(show_number(value, comma, thousands))
        return value or ""

    cells = [[header for _, header, _ in columns]]
    cells += [[cell(row[key], maker) for key, _, maker in columns] for row in source.rows]
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, delimiter=";" if place % 2 else ",", lineterminator="\r\n").writerows(cells)
        source.files[f"{name}.csv"] = out.getvalue().encode("utf-8-sig" if place % 3 == 0 else "utf-8")
    else:
        source.files[f"{name}.docx"] = word_file(name, cells)
    return source


def word_file(title: str, cells: Sequence[Sequence[str]]) -> bytes:
    document = Document()
    document.add_heading(title, level=1)
    grid = document.add_table(rows=len(cells), cols=len(cells[0]))
    grid.style = "Table Grid"
    for row, texts in zip(grid.rows, cells, strict=False):
        for box, text in zip(row.cells, texts, strict=False):
            box.text = text
    first, steady = io.BytesIO(), io.BytesIO()
    document.save(first)
    with zipfile.ZipFile(first) as old, zipfile.ZipFile(steady, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():  # fixed times: the same bytes on every run
            new.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), old.read(name), zipfile.ZIP_DEFLATED)
    return steady.getvalue()


def stamp(when: datetime, language: str, american: bool) -> str:
    if language == "es":
        return f"[{when.day}/{when.month}/{when:%y, %H:%M:%S}] "
    if language == "pt":
        return f"{when:%d/%m/%Y %H:%M} - "
    if american:
        return f"{when.month}/{when.day}/{when:%y}, {when.hour % 12 or 12}:{when:%M}\u202f{when:%p} - "
    return f"{when:%d/%m/%Y, %H:%M} - "


def message(
    source: Source, what: str, vocabulary: Mapping[str, list[str]], when: datetime, n: int, dice: random.Random
) -> tuple[str, Decimal | None]:
    """The text of one message as it stands in the export, and the amount it says was paid."""
    es = source.language == "es"
    if what in ("photo", "audio"):
        ios = {"photo": f"PHOTO-{when:%Y-%m-%d-%H-%M-%S}.jpg", "audio": f"AUDIO-{when:%Y-%m-%d-%H-%M-%S}.opus"}
        android = {"photo": f"IMG-{when:%Y%m%d}-WA{n:04}.jpg", "audio": f"PTT-{when:%Y%m%d}-WA{n:04}.opus"}
        shown = f"<adjunto: {n:08}-{ios[what]}>" if es else f"{android[what]} ({ATTACHED.get(source.language)})"
        return f"\u200e{shown}", None
    if what == "link":
        return f"https://example.org/{dice.choice(('map', 'news', 'offer', 'video'))}/{dice.randint(1000, 9999)}", None
    amount = Decimal(dice.randint(300, 8900)).scaleb(-2) if what == "pay" else None
    slots = {key: dice.choice(vocabulary[key]) for key in ("thing", "place")}
    slots["hour"] = f"{dice.randint(8, 21)}:{dice.choice(('00', '15', '30', '45'))}"
    slots["money"] = show_number(amount, source.language != "en", False) if amount else ""
    pattern = dice.choice(vocabulary["pay" if what == "pay" else "say"]).replace("\\n", "\n")
    text = pattern.format(**slots)
    for apart, joined in JOINED[source.language].items():
        text = text.replace(apart, joined)
    return text, amount


def chat(title: str, vocabulary: Mapping[str, list[str]], place: int, dice: random.Random) -> Source:
    language, name, people = title.split(" ", 1)[0], *title.split(" ", 1)[1].split(": ")
    source = Source(language, words=vocabulary["word"])
    source.asks = [
        ask(f"{line.rsplit('|', 1)[0]}|{words}")
        for line in vocabulary["ask"]
        for words in line.rsplit("|", 1)[1].split(";")
    ]
    authors = people.split(", ")
    weights = [dice.randint(2, 9) for _ in authors]
    american, start = place % 2 == 0, datetime(2024, dice.randint(1, 4), dice.randint(2, 27), 9, 12, 31)
    span, count = dice.randint(50, 130) * 24 * 60, dice.randint(40, 120)
    minutes = sorted(dice.sample(range(9, span), count))
    moments = [start + timedelta(minutes=m, seconds=dice.randrange(28)) for m in minutes]
    notices = [SYSTEM[language], CREATED[language].format(authors[0], name)]
    lead = f"{name}: \u200e" if language == "es" else ""
    lines = [stamp(start, language, american) + lead + notice for notice in notices]
    taken: list[str] = []
    for n, when in enumerate(moments):
        text, what, amount = "", "", None
        while not text or any(text.split("\n")[0] in other or other.split("\n")[0] in text for other in taken):
            what = dice.choices(("text", "photo", "audio", "link", "pay"), (70, 10, 4, 6, 12))[0]
            text, amount = message(source, what, vocabulary, when, n, dice)
        taken.append(text)
        who = dice.choices(authors, weights)[0]
        source.rows.append(
            {
                "id": text.lstrip("\u200e"),
                "text": text,
                "who": who,
                "date": when.date(),
                "what": what,
                "seq": Decimal(n),
                "amount": amount,
            }
        )
        lines.append(f"{stamp(when, language, american)}{who}: {text}")
    head = {"en": "WhatsApp Chat with", "es": "Chat de WhatsApp con", "pt": "Conversa do WhatsApp com"}[language]
    source.files[f"{head} {name}.txt"] = ("\n".join(lines) + "\n").encode()
    return source


def condition(text: str, source: Source, dice: random.Random) -> tuple[Test, dict[str, str]]:
    """The rows a condition keeps, and what it puts into the question."""
    found = re.fullmatch(r"(\w+)([=<>~@])(.*)", text)
    assert found, text
    key, sign, value = found.groups()
    present = [row[key] for row in source.rows if row[key] is not None]
    if sign == "=":
        wanted: Value = dice.choice(present) if value == "?" else value or None
        chat_person = key == "who" and bool(source.words)
        return lambda row: row[key] == wanted, {
            key: str(wanted).split()[0] if chat_person and wanted not in ("Dona Lúcia",) else str(wanted)
        }
    if sign == "~":
        word = dice.choice(source.words)
        return lambda row: re.search(rf"\b{word}\b", str(row[key]), re.I) is not None, {key: word}
    if sign == "@":
        days = [day for day in present if isinstance(day, date)]
        if value == "between":
            free = sorted({min(days) + timedelta(days=n) for n in range((max(days) - min(days)).days)} - set(days))
            early, late = sorted(dice.sample(free, 2))
            shown = [show_day(day, DAY[source.language], source.language) for day in (early, late)]
            return lambda row: early < as_day(row[key]) < late, {"from": shown[0], "to": shown[1]}
        month = dice.randint(1, 12) if value == "anymonth" else dice.choice(days).month
        return lambda row: as_day(row[key]).month == month, {"month": MONTHS[source.language][month - 1]}
    numbers = sorted(number for number in present if isinstance(number, Decimal))
    middle = dice.choice(numbers[len(numbers) // 3 :])
    step = next(s for s in (1, 2, 5, 10, 50, 100) if s == 100 or numbers[-1] < 12 * s)
    limit = Decimal(value) if value != "?" else Decimal(round(middle / step) * step)
    assert value != "?" or (limit not in numbers and limit > 0), "ambiguous limit"
    if sign == ">":
        return lambda row: as_number(row[key]) > limit, {"limit": str(limit)}
    return lambda row: as_number(row[key]) < limit, {"limit": str(limit)}


def as_day(value: Value) -> date:
    assert isinstance(value, date)
    return value


def as_number(value: Value) -> Decimal:
    assert isinstance(value, Decimal)
    return value


def answer(question: Ask, kept: list[Row], language: str) -> tuple[str | float | int, tuple[str, ...], list[Row]]:
    """The figure, its other forms and the rows that count; AssertionError where the question has no one answer."""
    kind, argument = question.kind, question.argument
    if kind == "unclear":
        return "", (), []
    if kind == "any":
        forms = YES_NO[language][0 if kept else 1]
        return ("yes" if kept else "no"), forms, kept
    assert len(kept) >= (1 if kind in ("list", "by-person") else 2)
    assert kind != "list" or len(kept) <= 12
    if kind in ("first", "last"):
        show, by = argument.split(":")
        ranked = sorted(kept, key=lambda row: str(row[by]) if by != "seq" else f"{as_number(row[by]):05}")
        row = ranked[0 if kind == "first" else -1]
        return str(row[show]).split("\n")[0], (), [row]
    if kind in ("most", "least"):
        scores: dict[str, Decimal] = {}
        show, mark, by = re.split(r"([#+:])", argument)
        for row in kept:
            scores[str(row[show])] = scores.get(str(row[show]), Decimal(0)) + (
                Decimal(1) if mark == "#" else as_number(row[by])
            )
        order = sorted(scores, key=lambda name: scores[name], reverse=kind == "most")
        assert len(order) > 1
        assert scores[order[0]] != scores[order[1]], "a tie"
        return order[0], (), [row for row in kept if row[show] == order[0]]
    if not argument:
        return len(kept), other_ways(Decimal(len(kept)))[:1], kept
    total = sum((as_number(row[argument]) for row in kept), Decimal(0))
    value = total / len(kept) if kind == "average" else total
    figure = float(round(value, 2))
    return (int(figure) if figure == int(figure) else figure), other_ways(value), kept


def plain(text: str) -> str:
    """As typed in haste: without accents (ñ and ç stay)."""
    parts = (c if c in "ñç" else unicodedata.normalize("NFD", c)[0] for c in text)
    return "".join(parts)


def case(source: Source, question: Ask, dice: random.Random) -> Case:
    for _ in range(400):
        try:
            tests, slots = [], dict[str, str]()
            for text in question.conditions:
                test, put = condition(text, source, dice)
                tests.append(test)
                slots |= put
            kept = [row for row in source.rows if all(test(row) for test in tests)]
            figure, alternatives, rows = answer(question, kept, source.language)
        except AssertionError:
            continue
        words = plain(question.words) if dice.random() < 0.25 else question.words
        asked, manner = words.format(**slots), dice.random()
        if manner < 0.5 and question.kind != "list":
            is_question = ASKING.match(question.words) is not None
            asked = asked[0].upper() + asked[1:] + ("?" if is_question else "")
            asked = f"¿{asked}" if source.language == "es" and is_question else asked
        names = tuple(str(row["id"]).split("\n")[0] for row in rows)
        return Case(source.language, question.kind, source.files, asked, figure, alternatives, names)
    raise ValueError(f"no fitting data for {question} in {list(source.files)}")


def ten(source: Source, unclear: bool, dice: random.Random) -> list[Ask]:
    """Ten questions, four of them in other words; among the rest one that nothing answers, if wanted."""
    reworded = dice.sample([a for a in source.asks if a.reworded], 4)
    nothing = [a for a in source.asks if a.kind == "unclear"][:1] if unclear else []
    used = {(a.kind, a.argument, a.conditions) for a in reworded}
    usual = [a for a in source.asks if not a.reworded and a.kind != "unclear"]
    usual = [a for a in usual if (a.kind, a.argument, a.conditions) not in used]
    return reworded + nothing + dice.sample(usual, 6 - len(nothing))


def vocabulary_of(language: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in CHATS.splitlines():
        word, told, rest = (line + "  ").split(" ", 2)
        if told == language and word != "==":
            rest = rest.strip()
            parts = [rest] if word == "ask" else rest.split(" ; " if word in ("say", "pay") else ", ")
            found.setdefault(word, []).extend(parts)
    return found


def cases(seed: int) -> list[Case]:
    dice = random.Random(seed)
    texts = TABLES.split("== ")[1:]
    texts += [line[3:] for line in CHATS.splitlines() if line.startswith("== ")]
    unclear: list[int] = []
    for language, share in (("en", 7), ("es", 7), ("pt", 6)):
        unclear += dice.sample([n for n, text in enumerate(texts) if text.startswith(language)], share)
    made: list[Case] = []
    for n, text in enumerate(texts):
        ready: list[Case] = []
        while not ready:  # other rows where a question has no one answer in these (a tie, for instance)
            is_table = "\n" in text
            source = table(text, seed + n, dice) if is_table else chat(text, vocabulary_of(text[:2]), seed + n, dice)
            try:
                ready = [case(source, question, dice) for question in ten(source, n in unclear, dice)]
            except ValueError:
                continue
        made += ready
    return made
