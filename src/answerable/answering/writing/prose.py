"""The text of an answer while a model writes it. The marks of the model become numbers of citations.

Nothing that was shown is taken back: a mark is held until it is complete, and its citation is known before it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from answerable.answering.checking.evidence import Evidence, look_up, nearest
from answerable.answering.found import ComputedPassage
from answerable.datatypes import AnswerEvent, Citation, RetrievalResult
from answerable.filters import Filter
from answerable.retrieval.visible import hidden_messages
from answerable.text.characters import encodable
from answerable.text.sentences import sentence_spans

MOST_MARKS = 12
"""Marks shown for one number of the model; a figure may rest on more rows, all cited. A guess, not measured."""
_SENTENCE = 1000
"""Characters before a mark in which its sentence is looked for: longer than sentences are. A guess, not measured."""

_NUMBERS = r"\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,9}"
_MARK = re.compile(rf"[ ]?(?:\[\^?({_NUMBERS})\]|【({_NUMBERS})[^】\n]{{0,40}}】)")
_HELD = re.compile(r"[ ]?(?:\[\^?[\d\s,;–-]{0,50}|【[^】\n]{0,60})$|[ ]$")
_RANGE = re.compile(r"(\d+)\s?[–-]\s?(\d+)")


@dataclass(slots=True)
class Ledger:
    """The source words that a model handed over, each looked up letter for letter, by the model's own numbers."""

    _passages: Sequence[RetrievalResult]
    _computed: Mapping[str, ComputedPassage]
    _where: Filter | None = None
    items: dict[int, Evidence] = field(default_factory=dict)
    verdict: str = ""
    lost: int = 0

    def offer(self, number: int, passage: int, text: str) -> Evidence | None:
        """Look up source words, first in the passage with this number, then in the others; None if none has them."""
        is_known = 1 <= passage <= len(self._passages)
        first = [self._passages[passage - 1]] if is_known else []
        found = look_up(text, [*first, *(each for each in self._passages if each not in first)], self._computed)
        if found is None or not self._may_be_cited(found):
            found = None
            self.lost += 1
        else:
            self.items[number] = found
        return found

    def nearest(self, sentence: str, language: str, passage: int = 0) -> Evidence | None:
        """Return the most similar sentence of the passage with this number, or of all passages (0)."""
        among = self._passages[passage - 1 : passage] if passage else self._passages
        found = nearest(sentence, among, self._computed, language)
        return found if found and self._may_be_cited(found) else None

    def _may_be_cited(self, found: Evidence) -> bool:
        """Return whether the filter passes the messages of the evidence."""
        hidden = hidden_messages(found.passage, self._where)
        return not any(each.start < found.end and each.end > found.start for each in hidden)

    def source(self, number: int, sentence: str, language: str) -> Evidence | None:
        """Return what a mark means: evidence or, if the model handed over none, the nearest sentence of a passage."""
        return self.items.get(number) if self.items else self.nearest(sentence, language, number) if number else None


Source = Callable[[int, str], "Evidence | None"]
"""Returns the evidence for a mark, given its number and the sentence before it."""


@dataclass(slots=True)
class Prose:
    """The text so far, and its citations with the evidence that each is of. Unless it `shows`, it makes no events."""

    source: Source
    language: str
    shows: bool = True
    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    _held: str = ""

    def take(self, text: str) -> Generator[AnswerEvent, None, None]:
        """Add text of the model; yield events of what can be shown, and of new citations before their marks."""
        waiting = self._held + encodable(text)
        held = _HELD.search(waiting)
        self._held = held[0] if held else ""
        yield from self._show(waiting[: len(waiting) - len(self._held)])

    def end(self) -> Generator[AnswerEvent, None, None]:
        """Yield events of what was held."""
        waiting, self._held = self._held, ""
        yield from self._show(waiting.rstrip())

    def of(self, numbers: Sequence[int]) -> list[Evidence]:
        """Return the evidence of these citation numbers, each once."""
        found: list[Evidence] = []
        for number in numbers:
            if 1 <= number <= len(self.evidence) and self.evidence[number - 1] not in found:
                found.append(self.evidence[number - 1])
        return found

    def _show(self, text: str) -> Iterator[AnswerEvent]:
        reached = 0
        for mark in _MARK.finditer(text):
            yield from self._shown(text[reached : mark.start()])
            # An index in code isn't a mark.
            if self.text.count("`") % 2:
                yield from self._shown(mark[0])
            else:
                yield from self._marked(mark)
            reached = mark.end()
        yield from self._shown(text[reached:])

    def _marked(self, mark: re.Match[str]) -> Iterator[AnswerEvent]:
        sentence = _last_sentence(self.text, self.language)
        sources = (self.source(number, sentence) for number in _named(mark[1] or mark[2]))
        numbers: list[int] = []
        for found in filter(None, sources):
            for citation in found.citations:
                if citation not in self.citations:
                    self.citations.append(citation)
                    self.evidence.append(found)
                    if self.shows:
                        yield AnswerEvent(mark=(len(self.citations), citation))
                numbers.append(self.citations.index(citation) + 1)
        marks = "".join(f"[{number}]" for number in dict.fromkeys(numbers[:MOST_MARKS]))
        space = " " if mark[0].startswith(" ") else ""
        yield from self._shown(f"{space}{marks}" if marks else "")

    def _shown(self, text: str) -> Iterator[AnswerEvent]:
        text = text if self.text else text.lstrip()
        if text:
            self.text += text
            if self.shows:
                yield AnswerEvent(text=text)


def _named(text: str) -> list[int]:
    spread = _RANGE.sub(lambda each: ",".join(map(str, range(int(each[1]), int(each[2]) + 1)[:MOST_MARKS])), text)
    return list(dict.fromkeys(map(int, re.findall(r"\d+", spread))))


def _last_sentence(text: str, language: str) -> str:
    tail = _MARK.sub("", text[-_SENTENCE:])
    spans = sentence_spans(tail, language)
    return tail[slice(*spans[-1])] if spans else tail
