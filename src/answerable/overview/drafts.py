"""Draft questions from the headings, facts, tables and messages of a document. Not all of them are answered."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, Span
from answerable.evaluation.suggest import drafts_of
from answerable.tables.find import find_tables
from answerable.tables.table import Column, Kind, Origin, Table
from answerable.text.find_words import find_words
from answerable.text.locate import is_heard
from answerable.text.terms import fold
from answerable.text.word_lists import LANGUAGES, read_toml

SHORTEST, LONGEST = 4, 60
"""Characters of a heading that a question is made of."""
MOST_WORDS = 5
SHORTEST_TEXT = 80
"""A section with less text says little."""
LONGEST_CELL = 40
"""A column with longer cells has sentences in it, not names."""
TABLES = 20
"""Of more tables in a document, the first are looked at."""
READ = 300_000
"""Of a longer document, so many characters are looked through for facts."""
TOPICS = 2
"""Questions about what one person said."""

_NUMBER = re.compile(r"^(?:§\s*)?(?:\d+(?:\.\d+)*[.):]?|[IVXL]+[.)]|[A-Za-z][.)])\s+")
_PLAIN = re.compile(r"[¿\"“«]?[^\W\d_][^(){}<>\[\]=\\`*#_/:;|]*")
_UNIT = re.compile(r"\s*[(\[].*?[)\]]\s*$")


class Basis(str, Enum):
    """What a question is made from."""

    SECTION = "section"
    FACT = "fact"
    TABLE = "table"
    SAID = "said"
    PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Draft:
    """A question about a document. It is answered if the first quote touches one of the spans."""

    question: str
    basis: Basis
    document_id: str
    spans: tuple[Span, ...]


def drafts(document: Document, language: str = "") -> Iterator[Draft]:
    """Yield questions about a document, for each basis the most promising first; none in other languages.

    `language` is taken for that of a document without one, such as a table.
    """
    document = replace(document, language=document.language or language)
    if document.language not in LANGUAGES:
        return
    words = _words(document.language)
    if document.type is DocumentType.CHAT:
        yield from _about_messages(document, words)
        return
    yield from _about_sections(document, words)
    yield from _about_facts(document)
    for table in find_tables(document)[:TABLES]:
        if table.origin is Origin.TABLE:
            yield from _about_table(document, table, words)


def _about_sections(document: Document, words: dict[str, Any]) -> Iterator[Draft]:
    """Yield a question about each section, those with the most text first."""
    sections: dict[tuple[str, ...], list[Part]] = defaultdict(list)
    for part in document.parts:
        if part.headings and part.headings != (document.title,) and part.sender is None:
            sections[part.headings].append(part)
    named = Counter(headings[-1] for headings in sections)
    sizes = {headings: sum(part.end - part.start for part in parts) for headings, parts in sections.items()}
    for headings in sorted(sections, key=lambda each: -sizes[each]):
        question = heading_question(headings[-1], document, words)
        if question and named[headings[-1]] == 1 and sizes[headings] >= SHORTEST_TEXT:
            spans = tuple((part.start, part.end) for part in sections[headings])
            yield Draft(question, Basis.SECTION, document.id, spans)


def heading_question(heading: str, document: Document, words: dict[str, Any]) -> str:
    """Return the question that a section answers, judging by its heading; empty if it doesn't tell."""
    text = _NUMBER.sub("", " ".join(heading.split())).strip(" .…")
    if not SHORTEST <= len(text) <= LONGEST or text.lower() in _listed(document.language, "empty"):
        return ""
    if re.fullmatch(words["asking"], text.strip("¿?"), re.IGNORECASE | re.VERBOSE):
        return f"{'¿' if document.language == 'es' else ''}{text.strip('¿?')}?"
    if not _PLAIN.fullmatch(text) or text.endswith("?"):
        return ""
    if words["how_to"] and (match := re.fullmatch(words["how_to"], text, re.IGNORECASE | re.VERBOSE)):
        return str(words["how"]).format(x=match["do"])
    starts_with_article = text.split(" ", 1)[0].lower() in words["articles"].split()
    if len(text.split()) > (MOST_WORDS - 2 if starts_with_article else MOST_WORDS):
        # It may be a sentence.
        return ""
    return str(words["section"]).format(x=_within(text, document.content, words["article"]))


def said_question(language: str, sender: str, topic: str) -> str:
    """Return the question what somebody said about a topic, in a language of `LANGUAGES`."""
    return str(_words(language)["said"]).format(who=sender, what=topic)


def _within(text: str, content: str, article: str) -> str:
    """Return a heading as written inside a sentence.

    Its first word is in lower case unless it is a name; a single word has the article that it has in the text.
    """
    first = text.split(" ", 1)[0]
    is_mixed = not (first[1:] or "x").islower()
    if is_mixed or re.search(rf"[a-zà-ÿ,] {re.escape(first)}(?!\w)", content) is not None:
        return text
    lower = first.lower() + text[len(first) :]
    found = re.search(rf"(?<!\w)(?:{article}) {re.escape(lower)}(?!\w)", content, re.IGNORECASE)
    return found[0].lower() if found and " " not in text else lower


def _about_facts(document: Document) -> Iterator[Draft]:
    """Yield the questions that single sentences answer by their form."""
    start = replace(document, content=document.content[:READ], parts=())
    for fact in drafts_of(start):
        if span := find_words(start.content, fact.answer):
            yield Draft(fact.question, Basis.FACT, document.id, (span,))


def _about_table(document: Document, table: Table, words: dict[str, Any]) -> Iterator[Draft]:
    """Yield the question for the highest figure or, in a table with repeated names, for its total by name."""
    numbers = [at for at, column in enumerate(table.columns) if column.kind is Kind.NUMBER and column.is_quantity]
    texts = [at for at, column in enumerate(table.columns) if column.kind is Kind.TEXT and _name_of(column)]
    for number in numbers:
        figure = _name_of(table.columns[number])
        for text in texts if figure else ():
            cells = [row.values[text].text for row in table.rows]
            if len(cells) < 2 or max(map(len, cells)) > LONGEST_CELL or not all(cells):
                continue
            is_key = len(set(cells)) == len(cells)
            question = words["highest" if is_key else "total"].format(t=_name_of(table.columns[text]), n=figure)
            yield Draft(question, Basis.TABLE, document.id, (table.span,))


def _name_of(column: Column) -> str:
    """Return the name of a column as written inside a question; empty if it isn't one."""
    name = _UNIT.sub("", column.name.replace("_", " ")).strip()
    if not 2 < len(name) <= LONGEST_CELL or not _PLAIN.fullmatch(name):
        return ""
    return name if name.isupper() else name[0].lower() + name[1:]


def _about_messages(document: Document, words: dict[str, Any]) -> Iterator[Draft]:
    """Yield questions about what somebody said of what is spoken of most, and who wrote the most."""
    messages = [part for part in document.parts if part.kind is PartKind.MESSAGE and part.sender and not is_heard(part)]
    text = {part: fold(document.content[part.body or part.start : part.end].lower()) for part in messages}
    nouns = re.compile(words["noun"], re.VERBOSE)
    phrases: Counter[str] = Counter()
    for part in messages:
        body = document.content[part.body or part.start : part.end]
        phrases.update({match[0] for match in nouns.finditer(body) if _is_topic(match["noun"], document.language)})
    asked: Counter[str] = Counter()
    for phrase, _ in phrases.most_common():
        noun = fold(phrase.split(" ", 1)[1])
        spans: dict[str, list[Span]] = defaultdict(list)
        for part in messages:
            is_question = text[part].rstrip().endswith("?")
            if part.sender and not is_question and re.search(rf"\b{re.escape(noun)}", text[part]):
                spans[part.sender].append((part.start, part.end))
        for sender in sorted(spans, key=lambda each: (asked[each], -len(spans[each]))):
            if asked[sender] < TOPICS and any(map(str.isalpha, sender)):
                asked[sender] += 1
                question = said_question(document.language, sender, phrase)
                yield Draft(question, Basis.SAID, document.id, tuple(spans[sender]))
                break
    if len({part.sender for part in messages}) > 1:
        yield Draft(words["most"], Basis.PEOPLE, document.id, ((0, len(document.content)),))


def _is_topic(noun: str, language: str) -> bool:
    return noun not in _listed(language, "no_topic")


@cache
def _listed(language: str, name: str) -> frozenset[str]:
    """Return a list of words; those with a space inside are written with a backslash before it."""
    return frozenset(word.replace("\0", " ") for word in _words(language)[name].replace("\\ ", "\0").split())


def _words(language: str) -> dict[str, Any]:
    words: dict[str, Any] = read_toml(Path(__file__).with_name("words") / "questions.toml")[language]
    return words
