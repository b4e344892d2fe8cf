"""What the steps of answering pass on: the question as understood, the passages found, and the figure computed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from answerable.datatypes import Answer, Chunk, Citation, Document, Facts, FloatArray, Location, RetrievalResult, Step
from answerable.filters import Filter
from answerable.formats.locate import shown_name
from answerable.protocols import IndexedChunk
from answerable.retrieval.narrowing import Narrowed


def is_note(document: Document) -> bool:
    """Return whether a document is an answer that the page saved, which repeats what its sources say."""
    return document.metadata.get("answerable") == "note"


@dataclass(frozen=True, slots=True)
class Asked:
    """A user's message as it is understood.

    `question` is what is searched for, `where` the caller's filter, `narrowed` the filter that the question names,
    `chunks` the number of passages in the library.
    """

    message: str
    question: str
    language: str
    vector: FloatArray
    chunks: int
    where: Mapping[str, Any] | None = None
    narrowed: Narrowed | None = None

    @property
    def attempts(self) -> tuple[Narrowed | None, ...]:
        """The filters to try one after another; the last is None, a search without the question's filter."""
        return (*(self.narrowed.attempts() if self.narrowed else ()), None)

    @property
    def why(self) -> Step:
        """The step that shows how the message was understood."""
        chose: Facts = {"question": self.question, "language": self.language, "filter": _words_of(self.narrowed)}
        return Step.of("understand", {"message": self.message}, chose)


@dataclass(frozen=True, slots=True)
class Found:
    """The passages found for a question, best first; `chunks` has the order of `results`.

    `word_weights` maps each word of the question, as the set of its stems, to its weight: rare words weigh more.
    `narrowed` is the filter from the question that the search used, `where` the whole filter: in a chat, only messages
    that pass it may be quoted.
    """

    asked: Asked
    word_weights: Mapping[frozenset[str], float]
    results: tuple[RetrievalResult, ...]
    chunks: tuple[IndexedChunk, ...]
    where: Filter | None = None
    narrowed: Narrowed | None = None

    @property
    def topic(self) -> str | None:
        """The question without the names and times that became the filter (may be ""); None without such a filter."""
        return self.narrowed.topic if self.narrowed and not self.narrowed.is_open else None

    @property
    def about(self) -> str:
        """The topic, even if its filter found nothing and the search was repeated without it; "" without a topic."""
        is_open = self.narrowed is not None and self.narrowed.is_open
        return self.asked.narrowed.topic if self.asked.narrowed and not is_open else ""

    @property
    def why(self) -> Step:
        """The step that shows what was searched for, and the best passage with its score and ranks."""
        where = json.dumps(self.asked.where, default=str, ensure_ascii=False) if self.asked.where else ""
        given: Facts = {"words": len(self.word_weights), "filter": _words_of(self.narrowed), "where": where}
        if not self.results:
            return Step.of("search", given, {"passages": 0})
        best = self.results[0]
        values: Facts = {"score": best.score, "rank by meaning": best.meaning_rank, "rank by words": best.keyword_rank}
        chose: Facts = {"passages": len(self.results), "best": place_of(best, self.asked.language)}
        return Step.of("search", given, chose, values)


_PLACES: Mapping[str, Mapping[str, str]] = {
    "es": {"to": "a", "line": "línea", "page": "página", "slide": "diapositiva", "cell": "celda"},
    "pt": {"to": "a", "line": "linha", "page": "página", "slide": "slide", "cell": "célula"},
}


def place_of(result: RetrievalResult, language: str) -> str:
    """Return a short description of a passage's document and location."""
    return ", ".join(filter(None, (shown_name(result.document), said(result.chunk.location, language))))


def said(location: Location, language: str) -> str:
    """Return a short description of a location in a document."""
    return location.said(_PLACES.get(language, {}))


def _words_of(narrowed: Narrowed | None) -> str:
    return ", ".join([*narrowed.narrowing.senders, *map(_days, narrowed.narrowing.periods)]) if narrowed else ""


def _days(period: tuple[datetime, datetime]) -> str:
    """Return a period in the notation of ISO 8601, first and last day included; an open end is `..`."""
    start, end = period
    first = ".." if start == datetime.min else f"{start:%Y-%m-%d}"
    last = ".." if end == datetime.max else f"{end - timedelta(microseconds=1):%Y-%m-%d}"
    return first if first == last else f"{first}/{last}"


TITLE = "computed by a program from rows and messages of the library"

_MARK = re.compile(r"\s?\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Figure:
    """The result of computing: the answer and its plan in words, or the reason why nothing was computed."""

    answer: Answer | None = None
    plan: str = ""
    why_none: str = ""

    @property
    def why(self) -> Step:
        """The step that shows what was computed, or why nothing was."""
        rows = len(self.answer.citations) if self.answer else None
        return Step.of("figures", chose={"plan": self.plan, "none": self.why_none, "rows cited": rows})

    def is_of_rows(self, answer: Answer) -> bool:
        """Return whether an answer is this figure and from table rows, to which filters for messages don't apply."""
        is_own = self.answer is not None and bool(answer.citations) and answer.citations == self.answer.citations
        return is_own and not any(citation.location.senders for citation in answer.citations)


NO_FIGURE = Figure()


@dataclass(frozen=True, slots=True)
class ComputedPassage:
    """A passage made from a computed answer. `lines` has the start of each line and the citations of that line."""

    result: RetrievalResult
    lines: tuple[tuple[int, tuple[Citation, ...]], ...]

    def sources(self, citation: Citation) -> tuple[Citation, ...]:
        """Return the sources of a quote of this passage, or the citation itself if it is of another passage."""
        if citation.document_id != self.result.document.id:
            return (citation,)
        ends = [start for start, _ in self.lines[1:]] + [citation.end]
        found = [
            cited
            for (start, several), end in zip(self.lines, ends, strict=True)
            if start < citation.end and end > citation.start
            for cited in several
        ]
        return tuple(dict.fromkeys(found))


def computed_passage(computed: Answer) -> ComputedPassage:
    """Return a computed answer as a passage: a line without citation marks is based on all citations of the answer."""
    lines = []
    for line in computed.text.splitlines():
        # A table cell may itself contain "[12]".
        marks = (int(number) for number in _MARK.findall(line))
        cited = tuple(computed.citations[mark - 1] for mark in marks if 1 <= mark <= len(computed.citations))
        lines.append((_MARK.sub("", line), cited or computed.citations))
    return passage_of_lines(lines, computed.language)


def passage_of_lines(cited_lines: Iterable[tuple[str, Sequence[Citation]]], language: str) -> ComputedPassage:
    """Return a computed passage of these lines, each with the citations that it is based on."""
    text, lines = "", []
    for line, cited in cited_lines:
        lines.append((len(text), tuple(cited)))
        text += f"{line}\n"
    document = Document.from_text(text, title=TITLE, language=language)
    chunk = Chunk(document.id, document.id, text, 0, len(text), 0, Location(None))
    return ComputedPassage(RetrievalResult(chunk, 0.0, document), tuple(lines))
