"""A passage as the check of an answer needs it: its sentences, its numbers and names, and windows of it to read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from answerable.datatypes import DocumentType, Part, PartKind, RetrievalResult, Span
from answerable.text.claims import Claim, Kind
from answerable.text.find_quote import Searchable
from answerable.text.names import SHORTEST, initials, is_form
from answerable.text.sentences import is_furniture, is_row, sentence_spans
from answerable.text.wording import Wording

WINDOW = 420
HEADER = 100
NEAR = 4

_SPACES = re.compile(r"\s+")
_PART_OF_NAME = re.compile(r"\W")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a passage: its offsets in the passage's text, its wording and, in a chat, its message."""

    passage: PassageText
    start: int
    end: int
    wording: Wording
    message: Part | None

    @cached_property
    def said_by(self) -> Wording | None:
        """The sender and the time of the message."""
        if self.message is None:
            return None
        time = f"{self.message.time:%Y-%m-%d %H:%M}" if self.message.time else ""
        return Wording(f"{self.message.sender or ''}\n{time}", self.wording.language)

    @cached_property
    def compared(self) -> frozenset[str]:
        """What a statement is compared with."""
        return self.wording.compared | (self.said_by.compared if self.said_by else frozenset())

    @property
    def is_row(self) -> bool:
        """Whether the sentence is a row of a table."""
        return is_row(self.passage.content, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Window:
    """A text to read together with a statement, and its sentences.

    `coverage` is the share of the statement's words and numbers that occur in the window or its headings.
    """

    sentences: tuple[Sentence, ...]
    text: str
    coverage: float

    @property
    def language(self) -> str:
        """The language of the first sentence's passage."""
        return self.sentences[0].passage.language

    def best(self, statement: Wording) -> Sentence:
        """Return the sentence that has most of a statement's words, numbers and names."""
        return max(self.sentences, key=lambda sentence: len(statement.compared & sentence.compared))


class PassageText:
    """A passage, analysed when first needed and then kept for all sentences of an answer."""

    def __init__(self, result: RetrievalResult, language: str) -> None:
        self.result = result
        self.content = result.chunk.content
        self.language = result.document.language or language

    @cached_property
    def searchable(self) -> Searchable:
        """The text, prepared for finding quotes."""
        return Searchable(self.content)

    @cached_property
    def setting(self) -> Searchable:
        """The title, context and headings, prepared for finding quoted titles."""
        return Searchable(self._headings)

    @cached_property
    def wording(self) -> Wording:
        """The wording of the text."""
        return Wording(self.content, self.language)

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of the passage, without headings and horizontal rules."""
        spans = [
            (first + start, first + end)
            for first, last in self._bodies
            for start, end in sentence_spans(self.content[first:last], self.language)
        ]
        kept = [span for span in spans if not is_furniture(self.content, *span)] or spans
        return [
            Sentence(self, start, end, Wording(self.content[start:end], self.language), self._message_at(start))
            for start, end in kept
        ]

    @cached_property
    def senders(self) -> frozenset[str]:
        """The people who wrote the messages of the passage."""
        return frozenset(part.sender for part in self._messages if part.sender)

    def lacks(self, claim: Claim, text: str, is_foreign: bool) -> bool:
        """Return whether the passage, its headings, its senders and its address lack a claim of a statement.

        A name may have another ending and, in another language, another spelling.
        """
        if claim.kind is not Kind.NAME:
            return claim.values.isdisjoint(self._values)
        return not is_foreign and not self._has_name(claim.values) and text[claim.start : claim.end].istitle()

    def windows(self, statement: Wording, count: int) -> Iterator[Window]:
        """Yield windows to read with a statement: the sentences most like it with their neighbours, best first."""
        sentences, wanted = self.sentences, statement.compared
        order = sorted(range(len(sentences)), key=lambda number: -len(wanted & sentences[number].compared))
        taken: set[int] = set()
        for focus in order:
            if count == 0:
                return
            if focus not in taken:
                chosen = self._around(focus, taken)
                taken.update(chosen)
                count -= 1
                yield self.window(chosen, wanted)

    def window(self, numbers: Sequence[int], wanted: Collection[str]) -> Window:
        """Return the window of these sentences, in their order, below the title and headings."""
        sentences = tuple(self.sentences[number] for number in numbers)
        found = set(wanted) & self._around_it.compared.union(*(sentence.compared for sentence in sentences))
        text = self._header
        for before, sentence in zip((None, *sentences), sentences, strict=False):
            text += self._lead(before, sentence) + self.content[sentence.start : sentence.end]
        return Window(sentences, text, len(found) / (len(wanted) or 1))

    def touched(self, start: int, end: int) -> list[int]:
        """Return the numbers of the sentences that a span touches."""
        return [number for number, each in enumerate(self.sentences) if each.start < end and each.end > start]

    @property
    def setting_terms(self) -> frozenset[str]:
        """The stems of the title, context, headings and address."""
        return self._around_it.terms

    @property
    def _headings(self) -> str:
        chunk, document = self.result.chunk, self.result.document
        headings = [heading for part in chunk.parts for heading in part.headings]
        return "\n".join(dict.fromkeys((document.title, chunk.context, *chunk.location.headings, *headings)))

    @cached_property
    def _header(self) -> str:
        """The line above a window; of a chat, nothing."""
        if self.result.document.type is DocumentType.CHAT:
            return ""
        line = _SPACES.sub(" ", self._headings.replace("\n", " › ")).strip(" ›")
        return f"{line[-HEADER:]}\n" if line else ""

    @cached_property
    def _around_it(self) -> Wording:
        document = self.result.document
        address = f"{document.source} {document.metadata.get('url') or ''}"
        return Wording(f"{self._headings}\n{address}", self.language)

    @cached_property
    def _messages(self) -> tuple[Part, ...]:
        return tuple(part for part in self.result.chunk.parts if part.kind is PartKind.MESSAGE)

    @cached_property
    def _bodies(self) -> list[Span]:
        """The spans of the text proper: the bodies of chat messages, the rows of a table, otherwise the whole text."""
        chunk = self.result.chunk
        if self._messages:
            spans = [(part.start if part.body is None else part.body, part.end) for part in self._messages]
        elif any(part.kind is PartKind.RECORD for part in chunk.parts):
            spans = [(part.start, part.end) for part in chunk.parts]
        else:
            return [(0, len(self.content))]
        spans = [(max(start, chunk.start) - chunk.start, min(end, chunk.end) - chunk.start) for start, end in spans]
        return [(start, end) for start, end in spans if start < end]

    def _message_at(self, start: int) -> Part | None:
        place = start + self.result.chunk.start
        return next((part for part in self._messages if part.start <= place < part.end), None)

    @cached_property
    def _values(self) -> frozenset[str]:
        said = (sentence.said_by.values for sentence in self.sentences if sentence.said_by)
        return (self.wording.values | self._around_it.values).union(*said)

    @cached_property
    def _names(self) -> frozenset[str]:
        """The words of the passage, its headings and senders, their parts, and the initials of names."""
        found: set[str] = set()
        for wording in (self.wording, self._around_it, Wording("\n".join(self.senders), self.language)):
            found.update(wording.words, wording.values)
            found.update(part for word in wording.words if not word.isalpha() for part in _PART_OF_NAME.split(word))
            found.update(initials(wording))
        return frozenset(found)

    def _has_name(self, values: Collection[str]) -> bool:
        return any(
            value in self._names
            or any(is_form(value, name) for name in self._names if name[:SHORTEST] == value[:SHORTEST])
            for value in values
        )

    def _around(self, focus: int, taken: Collection[int]) -> list[int]:
        """Return a sentence with neighbours on both sides in turn, as many as fit."""
        sentences = self.sentences

        def fits(first: int, last: int) -> bool:
            is_there = first >= 0 and last < len(sentences) and first not in taken and last not in taken
            return is_there and sentences[last].end - sentences[first].start <= WINDOW

        low = high = focus
        size = 0
        while size < high - low + 1:
            size = high - low + 1
            low -= fits(low - 1, high)
            high += fits(low, high + 1)
        return list(range(low, high + 1))

    def _lead(self, before: Sentence | None, sentence: Sentence) -> str:
        """Return what separates a sentence from the one before, or a message's time and sender."""
        message = sentence.message
        if message is None:
            is_near = before is not None and sentence.start - before.end < NEAR
            return self.content[before.end : sentence.start] if before and is_near else "\n" if before else ""
        if before and before.message == message:
            return " "
        when = f"{message.time:%Y-%m-%d %H:%M} " if message.time else ""
        return f"{chr(10) if before else ''}{when}{message.sender}: "
