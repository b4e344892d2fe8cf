"""What was computed for a question, as one more passage for the model that writes the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from answerable.datatypes import Answer, Chunk, Citation, Document, Location, RetrievalResult

TITLE = "computed by a program from rows and messages of the library"

_MARK = re.compile(r"\s?\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class ComputedPassage:
    """A passage that no document has. `lines` has the start of each of its lines and what the line cites."""

    result: RetrievalResult
    lines: tuple[tuple[int, tuple[Citation, ...]], ...]

    def sources(self, citation: Citation) -> tuple[Citation, ...]:
        """Return what a quote of this passage was computed from, as citations; of any other quote, its own citation."""
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
    """Return a computed answer as a passage: a line without marks rests on all that the answer cites."""
    text, lines = "", []
    for line in computed.text.splitlines():
        # A cell may hold "[12]" of its own.
        marks = (int(number) for number in _MARK.findall(line))
        cited = tuple(computed.citations[mark - 1] for mark in marks if 1 <= mark <= len(computed.citations))
        lines.append((len(text), cited or computed.citations))
        text += f"{_MARK.sub('', line)}\n"
    document = Document.from_text(text, title=TITLE, language=computed.language)
    chunk = Chunk(document.id, document.id, text, 0, len(text), 0, Location(None))
    return ComputedPassage(RetrievalResult(chunk, 0.0, document), tuple(lines))
