"""Windows for the reader: each of the best sentences with its neighbours, under its headings, date or column names."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from answerable.answering.citations import location_of
from answerable.answering.evidence import Sentence
from answerable.answering.rows import column_names
from answerable.datatypes import Span
from answerable.protocols import AnswerReader, Evidence, Reading

PASSAGES = 10
"""In how many passages an answer is sought when they are read."""
WINDOWS = 7
WINDOW = 420
HEADER = 120
LEAST_SHARE = 0.002

_BETWEEN = " › "
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Window:
    """A text to read, made of sentences of one chunk; `spans` are their places in `text`."""

    sentences: tuple[Sentence, ...]
    text: str
    spans: tuple[Span, ...]


def read_closely(evidence: Evidence, ranked: Sequence[Sentence], reader: AnswerReader) -> list[Sentence]:
    """Return the sentences with what the reader makes of them; those outside the best windows stay unread.

    A sentence's `reading` is the logit of its window plus the log of the share of the answer that begins in it.
    """
    windows = list(best_windows(ranked))
    # To the reader, any message of Ana's answers "what did Ana say about it?".
    readings = reader.read(evidence.about or evidence.question, [window.text for window in windows])
    read = {
        _key(sentence): sentence
        for window, reading in zip(windows, readings, strict=True)
        for sentence in _read_sentences(window, reading)
    }
    return [read.get(_key(sentence), sentence) for sentence in ranked]


def _read_sentences(window: Window, reading: Reading) -> Iterator[Sentence]:
    for sentence, (start, end) in zip(window.sentences, window.spans, strict=True):
        share = max(reading.share(start, end), LEAST_SHARE)
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
    for sentences in chunks.values():
        sentences.sort(key=lambda sentence: sentence.start)
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
    """Return the sentence with neighbours on both sides in turn, as many as fit with a table's column names."""

    def fits(first: int, last: int) -> bool:
        if first < 0 or last >= len(sentences):
            return False
        size = sentences[last].end - sentences[first].start + len(column_names(sentences[first]))
        return size <= WINDOW and taken.isdisjoint((_key(sentences[first]), _key(sentences[last])))

    low = high = next(number for number, each in enumerate(sentences) if each is focus)
    size = 0
    while size < high - low + 1:
        size = high - low + 1
        low -= fits(low - 1, high)
        high += fits(low, high + 1)
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
    """Return the text before a sentence: what separates it from the one before, or a message's time and sender."""
    message = sentence.message
    if message is None:
        return content[before.end : sentence.start] if before else ""
    if before and before.message == message:
        return " "
    when = f"{message.time:%H:%M} " if message.time else ""
    return f"{chr(10) if before else ''}{when}{message.sender}: "


def _header(sentences: Sequence[Sentence]) -> str:
    """Return the lines above a window: title and headings, and a table's column names; of a chat, the date."""
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
