"""How the nearest quote differs from a question: names and numbers of the question that it lacks, and what it has.

An e-mail address or a telephone number that is asked for is something that a quote can lack, too.

Compared is the quote with what belongs to it: its line up to it, headings, sender, title and file name, and the
beginning of its document. A name is a word with a capital that begins no sentence; months, days and the like aren't
names, since a date is written in many ways.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

from answerable.answering.citations import location_of
from answerable.answering.messages import word_lists
from answerable.answering.sentences import Sentence, shown_row
from answerable.datatypes import DocumentType
from answerable.formats.locate import shown_name
from answerable.retrieval.times import fold_in_place, grammar_of
from answerable.text.terms import STOP_WORDS, fold, words
from answerable.text.word_lists import LANGUAGES

BEFORE = 3000
"""Characters before the sentence, in its line, that may name what it is about. A guess, not measured."""
BEGINNING, LONG = 300, 1_200
"""Characters at the beginning of a document that may name what it is about, if it is this long. Not measured."""
SHORT_FORM = 4
"""Letters of a word in capitals, up to which it counts as a short form and not as a name. A guess, not measured."""
SHOWN = 2
"""Names that are shown in place of the one asked for: the first two. A guess, not measured."""
SAME = 0.6
"""Two names are the same if they begin alike for this share of the longer one ("Lisbon", "Lisboa"). Not measured."""

_WITHOUT_BEGINNING = (
    DocumentType.CHAT,
    DocumentType.RECORDS,
    DocumentType.SPREADSHEET,
    DocumentType.CONTACTS,
    DocumentType.CALENDAR,
)
_WORD = re.compile(r"[^\W_](?:[\w'’.:/-]*\w)?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NUMBER = re.compile(r"\d+")
_BEGINS = (*'.!?:…\n|–•·*#"“«(¿¡>', "- ", "]")
_SMALL = frozenset(fold(word) for known in STOP_WORDS.values() for word in known)


@dataclass(frozen=True, slots=True)
class Difference:
    """A name or number that a question asks about and a quote lacks; `says` are those that the quote has instead.

    It `decides` that the quote is about another if it is a year and the document says another, or if the quote has no
    name of the question, and its document lacks this one too or the quote has another in its place: in a row or card,
    or beside the same word ("Elena's blood type" for "Tom's blood type"). Else the quote may leave out who its document
    is about, as a letter leaves out its writer, and another name may be the answer ("Who gets Marta's piano?" – "I
    leave it to Duarte").
    """

    asked: str
    says: tuple[str, ...]
    decides: bool


def differences(question: str, sentence: Sentence) -> list[Difference]:
    """Return the names, years and numbers of a question that a sentence, with what belongs to it, lacks."""
    document, message = sentence.result.document, sentence.message
    sender = message.sender or "" if message else ""
    row = shown_row(sentence)
    line, above = row or _line(sentence), _above(sentence)
    own = f"{sender} {message.time if message else ''}\n{line}\n{above}"
    known, asked = _folded(own), _folded(question)
    found: list[Difference] = []
    names = _whole_names(question)
    lacking = [name for name in names if not any(_has(known, word) for word in name.split())]
    for word in lacking:
        others = list(dict.fromkeys(each for each in _names(line) if not _has(asked, each)))
        # What one person says of themselves isn't about another who is in the chat.
        is_of_sender = not sender or any(_has(asked, each) for each in sender.split())
        speakers = () if is_of_sender else _folded(" ".join(document.metadata.get("participants", ())))
        decides = word not in document.content or any(_has(speakers, each) for each in word.split())
        beside = _beside(question, word)
        decides |= any(row or not beside.isdisjoint(_beside(line, each)) for each in others)
        # Where the quote has another name of the question, this one may be the occasion, and not the subject.
        decides &= len(lacking) == len(names)
        found.append(Difference(word, tuple([sender, *others] if sender else others)[:SHOWN], decides))
    numbers = set(_numbers(own))
    for number in _numbers(question):
        if number not in numbers:
            is_year = bool(_YEAR.fullmatch(number))
            others = [each for each in _numbers(line) if bool(_YEAR.fullmatch(each)) == is_year]
            decides = is_year and bool(others or _YEAR.search(document.content))
            found.append(Difference(number, tuple(dict.fromkeys(others))[:SHOWN], decides))
    for asked_of, shape in _shapes():
        if (match := asked_of.search(fold_in_place(question))) and not shape.search(line):
            found.append(Difference(question[slice(*match.span())], (), True))
    return found


def _beside(text: str, name: str) -> set[str]:
    """Return the words next to a name, without accents; words such as "of" between them are passed over."""
    before, _, after = text.partition(name)
    sides = ([fold(word) for word in words(side)] for side in (before, after.removeprefix("'s").removeprefix("’s")))
    left, right = ([word for word in side if word not in _SMALL] for side in sides)
    return {*left[-1:], *right[:1]}


def _line(sentence: Sentence) -> str:
    """Return the sentence with what is before it in its line or message."""
    content, message = sentence.result.document.content, sentence.message
    above = message.body or message.start if message else content.rfind("\n", 0, sentence.start) + 1
    start = max(above, sentence.start - BEFORE)
    return content[start : sentence.end]


def _above(sentence: Sentence) -> str:
    """Return the names of what the sentence is in, and how its document begins, which often says what it is about."""
    document, location = sentence.result.document, location_of(sentence.result, sentence.start, sentence.end)
    is_long = len(document.content) > LONG and document.type not in _WITHOUT_BEGINNING
    beginning = document.content[:BEGINNING] if is_long else ""
    return "\n".join((document.title, shown_name(document), *location.headings, beginning))


def _whole_names(text: str) -> list[str]:
    """Return the names of a text, the words of one name together."""
    found: list[str] = []
    for word in _names(text):
        if found and f"{found[-1]} {word}" in text:
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def _names(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match[0].removesuffix("'s").removesuffix("’s")
        before, is_owner = text[: match.start()].rstrip(" "), word != match[0]
        plain = fold(word.lower())
        # "UE" may be written out.
        is_short_form = word.isupper() and len(word) <= SHORT_FORM
        if (
            len(word) < 2
            or is_short_form
            or not word[0].isupper()
            or plain in _SMALL
            or plain.removesuffix("s") in _dates()
            or not word.isalpha()
        ):
            continue
        # "Elena's" is a name where it begins a sentence too.
        begins = not before or before.endswith(_BEGINS) or text[: match.start()].endswith("- ")
        if is_owner or not begins:
            yield word


@cache
def _shapes() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return pairs of patterns: what asks for an e-mail address or a telephone number, and what is one."""
    shapes = word_lists("shapes").values()
    return [(re.compile(rf"\b(?:{each['asked']})\b", re.VERBOSE), re.compile(each["is"])) for each in shapes]


@cache
def _dates() -> frozenset[str]:
    grammars = map(grammar_of, LANGUAGES)
    named = (word for grammar in grammars for word in (*grammar.months, *grammar.weekdays))
    return frozenset(fold(word).removesuffix("s") for word in named)


def _numbers(text: str) -> list[str]:
    """Return the numbers of a text, those of dates and times too, without leading zeros: 5 March is 2024-03-05."""
    return [number.lstrip("0") or "0" for number in _NUMBER.findall(text)]


def _folded(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in words(text))


def _has(known: Collection[str], word: str) -> bool:
    """Return whether all parts of a word are among the known words, or begin as one of them does."""
    return all(part in known or any(_are_same(part, each) for each in known) for part in _folded(word))


def _are_same(one: str, other: str) -> bool:
    length = max(4, round(SAME * max(len(one), len(other))))
    return one[:length] == other[:length] and min(len(one), len(other)) >= length
