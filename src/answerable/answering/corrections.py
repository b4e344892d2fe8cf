"""Find later messages of a chat that change what a quoted one says: cancelled, moved, another price for the same thing.

A later message often shares few words with the question ("better at 6"), so those after the quote are read in their
surroundings, as the question's possible answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import cache

from answerable.answering.asked_for import asked_for, offers
from answerable.answering.evidence import Sentence, sentences
from answerable.answering.windows import read_closely
from answerable.answering.word_lists import word_lists
from answerable.datatypes import DocumentType, RetrievalResult
from answerable.protocols import AnswerReader, Evidence
from answerable.text.terms import fold, terms, words
from answerable.text.word_lists import LANGUAGES

CHUNKS = 60
"""How many passages after the quoted message are looked through."""
DAYS = 120
LIKELY, SURE, UNSAID = -3.0, 0.0, 3.0
"""The lowest readings of a message that changes an answer: of one that says so, of one that says so with a subject of
its own, and of one that doesn't say so."""
MARK, KIND = 0.06, 0.02
"""How much more similar to the question a message counts that has a word of change, or what is asked for."""

_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_. ]?(0[1-9]|1[0-2])[-_. ]?(0[1-9]|[12]\d|3[01])(?!\d)")
_QUESTION = ("?", "？")


def later_answer(evidence: Evidence, quoted: Sentence, reader: AnswerReader) -> Sentence | None:
    """Return the latest message that gives the question another answer than a quoted one; None without such.

    A question about the state before a change has none.
    """
    message = quoted.message
    if evidence.chunks_of is None or message is None or message.time is None:
        return None
    if _pattern("before").search(fold(evidence.question.lower())):
        return None
    found = list(_after(evidence, quoted))
    if not found:
        return None
    read = read_closely(evidence, sorted(found, key=lambda each: -_promise(evidence, each)), reader)
    changing = [each for each in read if _changes(each, quoted, evidence.question)]
    return max(changing, key=lambda each: each.start, default=None)


def outdated(latest: Sentence, other: Sentence, question: str) -> date | None:
    """Return the day of a quote that gives an answer which `latest` has replaced; None if it isn't known to be so.

    Both answer the question, differently: an earlier message of the same chat, or a document dated earlier.
    """
    if latest.answer is None or other.answer is None or _pattern("before").search(fold(question.lower())):
        return None
    if min(latest.reading or LIKELY, other.reading or LIKELY) <= SURE:
        return None
    one, another = (_plain(each, each.answer) for each in (latest, other))
    if one in another or another in one or _is_figure(one) != _is_figure(another):
        return None
    days = day_of(latest), day_of(other)
    is_same_chat = latest.result.document.id == other.result.document.id
    if days[0] is None or days[1] is None or (is_same_chat and latest.message is None):
        return None
    if not is_same_chat and not _are_of_a_series(latest, other):
        return None
    is_later = latest.start > other.start if is_same_chat else days[0] > days[1]
    return days[1] if is_later else None


def _are_of_a_series(one: Sentence, other: Sentence) -> bool:
    """Return whether the names of two documents are alike but for their dates, as those of the minutes of a board."""
    names = [set(re.findall(r"[^\W\d_]{3,}", fold(_name(each).lower()))) for each in (one, other)]
    return len(names[0] & names[1]) * 2 >= max(map(len, names)) > 0


def _name(sentence: Sentence) -> str:
    document = sentence.result.document
    return document.source.rpartition("/")[2].rpartition(".")[0] or document.title


def day_of(sentence: Sentence) -> date | None:
    """Return the day of a message, or of a document with a date in its name, title or front matter."""
    if sentence.message is not None:
        return sentence.message.time.date() if sentence.message.time else None
    document = sentence.result.document
    # The date in a PDF is that of the file.
    keys = ("date", "fecha", "data") if document.type is DocumentType.MARKDOWN else ()
    for text in (document.source.rpartition("/")[2], document.title, *map(document.metadata.get, keys)):
        if match := _DAY.search(str(text or "")):
            try:
                return date(*(int(number) for number in match.groups()))
            except ValueError:
                continue
    return None


def _after(evidence: Evidence, quoted: Sentence) -> Iterator[Sentence]:
    """Yield the sentences of the messages after a quoted one."""
    assert evidence.chunks_of is not None
    assert quoted.message is not None
    document = quoted.result.document
    following = [each for each in evidence.chunks_of(document.id) if each.chunk.end > quoted.end][:CHUNKS]
    results = tuple(RetrievalResult(each.chunk, quoted.result.score, document) for each in following)
    begun = quoted.message.time
    for sentence in sentences(replace(evidence, results=results, chunks=tuple(following), topic=None)):
        message = sentence.message
        if message is None or sentence.start < quoted.message.end or message.time is None or begun is None:
            continue
        if message.time - begun <= timedelta(days=DAYS) and not sentence.text.rstrip().endswith(_QUESTION):
            yield sentence


def _promise(evidence: Evidence, sentence: Sentence) -> float:
    """Return how likely a message changes an answer, before it is read."""
    kind = asked_for(evidence.question)
    is_of_kind = kind is not None and offers(replace(sentence, message=None), kind, evidence.question)
    return sentence.similarity + MARK * _marks_change(sentence.text) + KIND * is_of_kind + 0.05 * sentence.coverage


def _changes(sentence: Sentence, quoted: Sentence, question: str) -> bool:
    """Return whether a message that was read gives another answer than the quote, or says that it no longer holds."""
    if sentence.reading is None or sentence.reading <= LIKELY:
        return False
    marks = _marks_change(sentence.text)
    if sentence.reading <= UNSAID and not marks:
        return False
    if sentence.reading <= SURE and _is_of_another(sentence.text, f"{question} {quoted.text}"):
        return False
    if sentence.answer is None or quoted.answer is None:
        return marks
    one, other = (_plain(each, each.answer) for each in (sentence, quoted))
    return one not in other and other not in one and (marks or (_is_figure(one) and _is_figure(other)))


def _is_of_another(text: str, known: str) -> bool:
    """Return whether the subject before the word of change is another thing than those known ("the match moved")."""
    folded = fold(text.lower())
    change = _pattern("changes").search(folded)
    before = folded[: change.start()] if change else ""
    return any(_stems(match["noun"]).isdisjoint(_stems(known)) for match in _pattern("subject").finditer(before))


def _stems(text: str) -> frozenset[str]:
    plain = " ".join(words(fold(text.lower())))
    return frozenset(stem for language in LANGUAGES for stem in terms(plain, language))


def _plain(sentence: Sentence, span: tuple[int, int] | None) -> str:
    first, last = span or (sentence.start, sentence.end)
    return " ".join(fold(sentence.result.document.content[first:last].lower()).split())


def _is_figure(text: str) -> bool:
    return any(map(str.isdigit, text))


def _marks_change(text: str) -> bool:
    return _pattern("changes").search(fold(text.lower())) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(word_lists("corrections")[name], re.VERBOSE)
