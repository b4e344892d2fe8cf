"""Rank sentences by how well they answer: first by words and vectors, then by a reader model on the best of them.

The reader gets windows: each of the best sentences with its neighbours, below its headings, date or column names.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from answerable.answering.citations import location_of
from answerable.answering.found import Found, place_of
from answerable.answering.gate import UNREAD
from answerable.answering.sentences import Sentence, column_names, missing_words, sentences, widened
from answerable.datatypes import Part, Span, Step
from answerable.protocols import AnswerReader, Reading
from answerable.text.characters import QUESTION_MARKS

NEAR_WEIGHT = 0.55
"""The weight of similar word forms relative to exact words; this and the next three are fitted: see `rank`."""
SIMILARITY_WEIGHT = 8.3  # fitted
CHUNK_WEIGHT = 0.82  # fitted
CONTEXT_WEIGHT = 0.47  # fitted
ASKING = 0.6
"""The support that a sentence loses if it is a question. Chosen for chats, where the reply often follows it."""
READING_WEIGHT = 0.2
"""The weight of a reading, in logits, when added to the support by words and vectors. A round number, not measured."""

PASSAGES = 10
"""Number of passages in which an answer is sought if there is a reader."""
WINDOWS = 7
"""Windows to read for a question: seven take .18 s of CPU with AVX512-BF16 (docs/reader.md)."""
WINDOW = 420
"""Characters of a window: about 112 tokens, as in the windows that the reader was trained on (docs/reader.md)."""
HEADER = 120
"""Characters of a window that its headings may take. A round number, not measured."""
LEAST_SHARE = 0.002
"""The lowest share (see `share_of`) used, so that its logarithm stays finite. A guess, not measured."""

_REPLY = re.compile(
    r"(?:\s*>[^\n]*)*\s*([^\s>][^\n]{0,300})(?:\n|\Z)"
)  # a longer paragraph is more than a reply; a guess
_BETWEEN = " › "
_SPACES = re.compile(r"\s+")


def read(found: Found, reader: AnswerReader | None) -> list[Sentence]:
    """Return the sentences of the passages, the best answer first; with a reader, the best sentences are read."""
    ranked = rank(sentences(found))
    if reader is None:
        return ranked
    scored = [
        replace(each, support=each.support + READING_WEIGHT * (UNREAD if each.reading is None else each.reading))
        for each in read_closely(found, ranked, reader)
    ]
    return sorted(scored, key=lambda sentence: -sentence.support)


def why_read(found: Found, ranked: Sequence[Sentence]) -> Step:
    """Return the step that shows the best sentence, its lead, and the reader's logits of it and of the next one.

    The missing words are the words of the question that the best sentence's passage lacks.
    """
    count = sum(sentence.reading is not None for sentence in ranked)
    given = {"sentences": len(ranked), "sentences read": count}
    if not ranked:
        return Step.of("read", given)
    best, *others = ranked
    values: dict[str, float | None] = {"support": best.support, "reading": best.reading}
    if others:
        values |= {"support of the next": others[0].support, "reading of the next": others[0].reading}
    missing = ", ".join(missing_words(found.asked.question, found.asked.language, best.result))
    place = place_of(best.result, found.asked.language)
    return Step.of("read", given, {"best": best.text, "place": place, "missing words": missing}, values)


def rank(found: Iterable[Sentence]) -> list[Sentence]:
    """Rank sentences by support: covered terms, chunk score, similarity to the question.

    A question in the documents ranks below its possible replies.

    The weights are a rounded maximum-likelihood fit on half of the articles of XQuAD en and es, FaQuAD and SQuAD2 en,
    es and pt; `ASKING` was chosen for chats.
    """
    found = list(found)
    closest = max((sentence.similarity for sentence in found), default=0.0)

    def support(sentence: Sentence) -> float:
        return (
            (1 - NEAR_WEIGHT) * sentence.coverage
            + NEAR_WEIGHT * sentence.near_coverage
            + CONTEXT_WEIGHT * sentence.context
            + CHUNK_WEIGHT * sentence.chunk_score
            + SIMILARITY_WEIGHT * (sentence.similarity - closest)
            - ASKING * sentence.text.endswith(QUESTION_MARKS)
        )

    scored = [replace(sentence, support=support(sentence)) for sentence in found]
    return sorted(scored, key=lambda sentence: -sentence.support)


def is_quotation(content: str, message: Part, offset: int) -> bool:
    """Return whether a line of a message quotes somebody else: `> Is there a cellar?`."""
    return content.startswith(">", content.rfind("\n", message.start, offset) + 1 or message.body or message.start)


def replied(sentence: Sentence) -> Sentence:
    """Return the reply in place of a question that a message quotes above it; any other sentence as it is."""
    content, message = sentence.result.document.content, sentence.message
    is_asked = message and sentence.text.endswith(QUESTION_MARKS) and is_quotation(content, message, sentence.start)
    reply = _REPLY.match(content, sentence.end, message.end) if message and is_asked else None
    return replace(sentence, start=reply.start(1), end=reply.end(1), answer=None) if reply else sentence


@dataclass(frozen=True, slots=True)
class Window:
    """Text for the reader model, made of sentences of one chunk; `spans` are the sentences' spans in `text`."""

    sentences: tuple[Sentence, ...]
    text: str
    spans: tuple[Span, ...]


def read_closely(found: Found, ranked: Sequence[Sentence], reader: AnswerReader) -> list[Sentence]:
    """Return the sentences with the reader's results; sentences outside the best windows stay unread.

    A sentence's `reading` is the logit of its window plus the log of the probability that the answer begins in it.
    """
    windows = list(best_windows(ranked))
    # The reader would find that any message of Ana's answers "what did Ana say about it?".
    readings = reader.read(found.about or found.asked.question, [window.text for window in windows])
    done = {
        _key(sentence): sentence
        for window, reading in zip(windows, readings, strict=True)
        for sentence in _read_sentences(window, reading)
    }
    return [done.get(_key(sentence), sentence) for sentence in ranked]


def share_of(reading: Reading, start: int, end: int) -> float:
    """Return the probability that the answer starts in this span of its window, given that the window has an answer."""
    first, last = reading.starts.searchsorted((start, end)).tolist()
    return float(reading.likely[first:last].sum())


def _read_sentences(window: Window, reading: Reading) -> Iterator[Sentence]:
    for sentence, (start, end) in zip(window.sentences, window.spans, strict=True):
        share = max(share_of(reading, start, end), LEAST_SHARE)
        answer = None
        if start <= reading.start < end:
            shift = sentence.start - start
            answer = (reading.start + shift, min(reading.end, end) + shift)
        yield replace(sentence, reading=reading.logit + math.log(share), answer=answer)


def best_windows(ranked: Sequence[Sentence], count: int = WINDOWS) -> Iterator[Window]:
    """Yield windows around the best sentences, each sentence in at most one window."""
    chunks: dict[str, list[Sentence]] = defaultdict(list)
    for sentence in ranked:
        chunks[sentence.result.chunk.id].append(sentence)
    for own in chunks.values():
        own.sort(key=lambda sentence: sentence.start)
    taken: set[tuple[str, int, int]] = set()
    for sentence in ranked:
        if count == 0:
            return
        if _key(sentence) not in taken:
            around = _around(sentence, chunks[sentence.result.chunk.id], taken)
            taken.update(map(_key, around))
            count -= 1
            yield _window(around)


def _around(focus: Sentence, sentences: Sequence[Sentence], taken: set[tuple[str, int, int]]) -> list[Sentence]:
    """Return the sentence and as many neighbours, alternating between both sides, as fit besides column names."""

    def fits(first: int, last: int) -> bool:
        if first < 0 or last >= len(sentences):
            return False
        size = sentences[last].end - sentences[first].start + len(column_names(sentences[first]))
        return size <= WINDOW and taken.isdisjoint((_key(sentences[first]), _key(sentences[last])))

    low, high = widened(next(number for number, each in enumerate(sentences) if each is focus), fits)
    return list(sentences[low : high + 1])


def _window(sentences: Sequence[Sentence]) -> Window:
    content = sentences[0].result.document.content
    text, spans = _header(sentences), []
    before: Sentence | None = None
    for sentence in sentences:
        text += _lead(before, sentence, content)
        spans.append((len(text), len(text) + len(sentence.text)))
        text += sentence.text
        before = sentence
    return Window(tuple(sentences), text, tuple(spans))


def _lead(before: Sentence | None, sentence: Sentence, content: str) -> str:
    """Return the text between the previous sentence and this one; for a chat message, its time and sender."""
    message = sentence.message
    if message is None:
        return content[before.end : sentence.start] if before else ""
    if before and before.message == message:
        return " "
    when = f"{message.time:%H:%M} " if message.time else ""
    return f"{chr(10) if before else ''}{when}{message.sender}: "


def _header(sentences: Sequence[Sentence]) -> str:
    """Return the lines above a window: title, headings and a table's column names; for a chat, the date."""
    first = sentences[0]
    if first.message is not None:
        return f"{first.message.time:%Y-%m-%d}\n" if first.message.time else ""
    document = first.result.document
    headings = location_of(first.result, first.start, sentences[-1].end).headings
    names = dict.fromkeys((document.title or "", *headings))
    line = _BETWEEN.join(_SPACES.sub(" ", name).strip() for name in names if name.strip())
    line = line if len(line) <= HEADER else line[-HEADER:].partition(" ")[2]
    return "".join(f"{each}\n" for each in (line, column_names(first)) if each)


def _key(sentence: Sentence) -> tuple[str, int, int]:
    return sentence.result.chunk.id, sentence.start, sentence.end
