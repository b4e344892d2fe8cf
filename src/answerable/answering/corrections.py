"""Find what was written later and changes what a quote says: cancelled, moved, another price for the same thing.

A later message often shares few words with the question ("better at 6"), so those after the quote are read in their
surroundings, as the question's possible answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import cache

from answerable.answering.asked_for import asked_for, offers
from answerable.answering.dated_entries import is_later
from answerable.answering.evidence import Sentence, sentences
from answerable.answering.windows import read_closely
from answerable.answering.word_lists import word_lists
from answerable.datatypes import Document, DocumentType, RetrievalResult
from answerable.protocols import AnswerReader, Evidence
from answerable.text.terms import fold, terms, words
from answerable.text.word_lists import LANGUAGES

CHUNKS = 60
"""How many passages after the quoted message are looked through."""
DAYS = 120
LIKELY, SURE, SURE_OF_SUBJECT = -5.0, 0.0, 3.0
"""The lowest readings of a message that changes an answer: of one that says so, of one that doesn't, and of one with a
subject of its own and nothing of the question."""
UNANSWERING = -2.0
"""The lowest reading of one that says so, but in which no answer begins ("they cancelled us")."""
CLOSE = 0.025
"""By how much the cosine with the question may be lower than the quote's, where nothing else shows what it is about."""
OF_ANY_KIND = 1.0
"""The lowest reading of a sentence that answers with a figure where the quote has none, or the other way round."""
NEAR = 3.0
"""A change counts beside another if it is read so little worse; the latest of these is given."""
SHORTEST_TOPIC = 4
"""A word of the question that is shorter doesn't show that a sentence is about the same thing."""
TOPIC_WORDS = 2
"""So many of the question's words show it."""
MARK, KIND = 0.06, 0.02
"""How much more similar to the question a message counts that has a word of change, or what is asked for."""

_QUESTION = ("?", "？")


def later_answer(evidence: Evidence, quoted: Sentence, reader: AnswerReader) -> Sentence | None:
    """Return the latest message that gives the question another answer than a quoted one; None without such.

    A question about the state before a change has none.
    """
    if evidence.chunks_of is None or _pattern("before").search(fold(evidence.question.lower())):
        return None
    found = list(_after(evidence, quoted))
    if not found:
        return None
    read = read_closely(evidence, sorted(found, key=lambda each: -_promise(evidence, each)), reader)
    changing = [each for each in read if _changes(each, quoted, evidence.question)]
    best = max((each.reading or LIKELY for each in changing), default=LIKELY)
    near = [each for each in changing if (each.reading or LIKELY) >= best - NEAR]
    latest = near[0] if near else None
    for each in near[1:]:
        latest = each if latest is None or is_later(each, latest) else latest
    return latest


def is_outdated(latest: Sentence, other: Sentence, question: str) -> bool:
    """Return whether `latest` has replaced a quote: both answer the question, differently, and `other` was said before.

    That is an earlier message of the same chat or thread of mail, an earlier entry of the same file, or an earlier one
    of the same series of documents.
    """
    if latest.answer is None or other.answer is None or _pattern("before").search(fold(question.lower())):
        return False
    if min(latest.reading or LIKELY, other.reading or LIKELY) <= SURE or not is_later(latest, other):
        return False
    one, another = (_plain(each, each.answer) for each in (latest, other))
    if one in another or another in one or _is_figure(one) != _is_figure(another):
        return False
    one_document, another_document = latest.result.document, other.result.document
    if one_document.id == another_document.id or _are_of_a_thread(one_document, another_document):
        return True
    return _are_of_a_series(latest, other)


def _are_of_a_thread(one: Document, other: Document) -> bool:
    """Return whether two messages of mail reply to the same one."""
    threads = [each.metadata.get("thread") for each in (one, other)]
    return one.type is other.type is DocumentType.MAIL and threads[0] == threads[1] and bool(threads[0])


def _are_of_a_series(one: Sentence, other: Sentence) -> bool:
    """Return whether the names of two documents are alike but for their dates, as those of the minutes of a board."""
    if DocumentType.MAIL in (one.result.document.type, other.result.document.type):
        # Their names are ids.
        return False
    names = [set(re.findall(r"[^\W\d_]{3,}", fold(_name(each).lower()))) for each in (one, other)]
    return len(names[0] & names[1]) * 2 >= max(map(len, names)) > 0


def _name(sentence: Sentence) -> str:
    document = sentence.result.document
    return document.source.rpartition("/")[2].rpartition(".")[0] or document.title


def _after(evidence: Evidence, quoted: Sentence) -> Iterator[Sentence]:
    """Yield what was written after a quote: later messages, entries of its file, documents of its series."""
    documents = {each.document.id: each.document for each in evidence.results}
    for document in documents.values():
        yield from _later_sentences(evidence, quoted, document)


def _later_sentences(evidence: Evidence, quoted: Sentence, document: Document) -> Iterator[Sentence]:
    assert evidence.chunks_of is not None
    is_own = document.id == quoted.result.document.id
    is_near = is_own or _are_of_a_thread(document, quoted.result.document)
    if not is_near and (quoted.message or not _are_of_a_series(quoted, _any_of(document, quoted))):
        return
    chunks = evidence.chunks_of(document.id)
    if quoted.message and is_own:
        chunks = [each for each in chunks if each.chunk.end > quoted.end]
    results = tuple(RetrievalResult(each.chunk, quoted.result.score, document) for each in chunks[:CHUNKS])
    for sentence in sentences(replace(evidence, results=results, chunks=tuple(chunks[:CHUNKS]), topic=None)):
        is_asked = sentence.text.rstrip().endswith(_QUESTION)
        if not is_asked and is_later(sentence, quoted) and _is_soon(sentence, quoted):
            yield sentence


def _any_of(document: Document, like: Sentence) -> Sentence:
    return replace(like, result=replace(like.result, document=document))


def _is_soon(sentence: Sentence, quoted: Sentence) -> bool:
    """Return whether a message follows another within some months; other documents change each other at any time."""
    if sentence.message is None or quoted.message is None:
        return True
    one, other = sentence.message.time, quoted.message.time
    return one is not None and other is not None and one - other <= timedelta(days=DAYS)


def _promise(evidence: Evidence, sentence: Sentence) -> float:
    """Return how likely a message changes an answer, before it is read."""
    kind = asked_for(evidence.question)
    is_of_kind = kind is not None and offers(replace(sentence, message=None), kind, evidence.question)
    return sentence.similarity + MARK * _marks_change(sentence.text) + KIND * is_of_kind + 0.05 * sentence.coverage


def _changes(sentence: Sentence, quoted: Sentence, question: str) -> bool:
    """Return whether a sentence that was read gives another answer than the quote, or says that it no longer holds."""
    marks = _marks_change(sentence.text)
    if sentence.reading is None or sentence.reading <= (LIKELY if marks else SURE):
        return False
    shared = _shared_words(sentence.text, question)
    is_far = sentence.similarity < quoted.similarity - CLOSE
    if (is_far and not (marks or shared)) or _is_of_another(sentence, quoted, question, shared):
        return False
    if sentence.answer is None:
        return marks and sentence.reading > UNANSWERING
    one, other = _plain(sentence, sentence.answer), _plain(quoted, quoted.answer)
    if quoted.answer is None and not marks:
        return one not in other and (quoted.reading or LIKELY) > SURE
    is_alike = _is_figure(one) == _is_figure(other) or sentence.reading > OF_ANY_KIND
    return not _are_same(one, other) and (marks or is_alike)


def _is_of_another(sentence: Sentence, quoted: Sentence, question: str, shared: int) -> bool:
    """Return whether the subject before the word of change is another thing than those known ("the match moved").

    The more of the question's words a sentence has, the less sure must the reader be that it answers.
    """
    reading = LIKELY if sentence.reading is None else sentence.reading
    if shared >= TOPIC_WORDS or reading > (SURE if shared else SURE_OF_SUBJECT):
        return False
    folded = fold(sentence.text.lower())
    change = _pattern("changes").search(folded)
    before = folded[: change.start()] if change else ""
    if _shared_words(before, question):
        return False
    known = _stems(f"{question} {quoted.text}")
    return any(_stems(match["noun"]).isdisjoint(known) for match in _pattern("subject").finditer(before))


def _shared_words(text: str, question: str) -> int:
    """Return how many words of a text are the question's and long enough to show what it is about."""
    asked = _stems(question)
    long = (word for word in words(fold(text.lower())) if len(word) >= SHORTEST_TOPIC)
    return sum(not _stems(word).isdisjoint(asked) for word in long)


def _stems(text: str) -> frozenset[str]:
    plain = " ".join(words(fold(text.lower())))
    return frozenset(stem for language in LANGUAGES for stem in terms(plain, language))


def _plain(sentence: Sentence, span: tuple[int, int] | None) -> str:
    first, last = span or (sentence.start, sentence.end)
    return " ".join(fold(sentence.result.document.content[first:last].lower()).split())


def _are_same(one: str, other: str) -> bool:
    """Return whether one answer says nothing that the other doesn't: "4" and "4 gazebos", but not "4" and "3 not 4"."""
    figures = [re.findall(r"\d+", text) for text in (one, other)]
    has_others = all(figures) and figures[0][0] != figures[1][0]
    return (one in other or other in one) and not has_others


def _is_figure(text: str) -> bool:
    return any(map(str.isdigit, text))


def _marks_change(text: str) -> bool:
    return _pattern("changes").search(fold(text.lower())) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(word_lists("corrections")[name], re.VERBOSE)
