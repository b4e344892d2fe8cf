"""Make chunks from spans, as the last step of every splitter, and find the quotable spans within the chunks.

Quotable spans are sentences, table rows and statements of code; a statement includes its continuation lines, and
comments and paragraphs of docstrings are spans as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, PartKind, Span, chunk_id
from answerable.formats.locate import Locator
from answerable.tables.grid import header_above, plain_cell
from answerable.text.sentences import is_furniture, sentence_spans

_LONGEST_STEP = 300  # characters per step of the context line; more would crowd out the passage; a guess, not measured
_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")


def check_sizes(**sizes: int) -> None:
    """Raise ValueError unless the first size is at least 1, and the second, its overlap, from 0 to the first - 1."""
    (size_name, size), (overlap_name, overlap) = sizes.items()
    if size < 1:
        raise ValueError(f"{size_name} is {size}: it must be at least 1")
    if not 0 <= overlap < size:
        raise ValueError(f"{overlap_name} is {overlap}: it must be at least 0 and less than {size_name} ({size})")


def make_chunks(document: Document, spans: Iterable[Span]) -> list[Chunk]:
    """Return the chunks of a document in the order of the spans.

    White space around a span is cut off. A span that is empty, or within the previous or next one, is dropped.
    """
    locator = Locator(document)
    chunks: list[Chunk] = []
    for start, end in spans:
        start, end = trim(document.content, start, end)
        if start >= end or (chunks and end <= chunks[-1].end):
            continue
        if chunks and chunks[-1].start == start:
            chunks.pop()
        content = document.content[start:end]
        location, parts = locator.location(start, end), locator.parts(start, end)
        chunks.append(
            Chunk(
                id=chunk_id(document.id, start, content),
                document_id=document.id,
                content=content,
                start=start,
                end=end,
                sequence=len(chunks),
                location=location,
                context=_context(document, location, parts),
                parts=parts,
            )
        )
    return chunks


def pack(starts: Sequence[int], size: int) -> Iterator[Span]:
    """Group whole pieces into spans of at most `size`, at least one piece each; a piece ends where the next starts."""
    first = 0
    while first < len(starts) - 1:
        last = first + 1
        while last < len(starts) - 1 and starts[last + 1] - starts[first] <= size:
            last += 1
        yield starts[first], starts[last]
        first = last


def trim(content: str, start: int, end: int) -> Span:
    """Return the span without white space at its ends."""
    piece = content[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))


def _context(document: Document, location: Location, parts: tuple[Part, ...]) -> str:
    """Return the context line of a chunk: title › headings, columns or symbols; for a chat only its name."""
    path = [document.title.strip(), *location.headings]
    match document.type:
        case DocumentType.CHAT:
            path = path[:1]
        case DocumentType.RECORDS:
            path.append(str(document.metadata.get("columns") or "")[:_LONGEST_STEP])
        case DocumentType.SPREADSHEET:
            names = header_above(document.content, parts[0].start)[:_LONGEST_STEP] if parts else ""
            path.append(", ".join(filter(None, map(plain_cell, names.split("|")))))
        case DocumentType.CODE:
            path += _symbols(parts)
    return " › ".join(dict.fromkeys(" ".join(step.split()) for step in path if step.strip()))


def _symbols(parts: tuple[Part, ...]) -> tuple[str, str]:
    """Return the symbols of code, and the words in the symbols, because questions don't contain `parseDueDate`."""
    symbols = dict.fromkeys(part.symbol for part in parts if part.symbol)
    words = dict.fromkeys(word.lower() for symbol in symbols for word in _WORDS_OF_NAME.findall(symbol))
    return ", ".join(symbols)[:_LONGEST_STEP], " ".join(words)[:_LONGEST_STEP]


def evidence_spans(chunk: Chunk, language: str) -> tuple[Span, ...]:
    """Return start and end within `chunk.content` of every sentence, table row or statement of code, in order.

    Headings, rules, code fences, and the headers and notices of chats are not evidence.
    """
    kinds = {part.kind for part in chunk.parts}
    if PartKind.RECORD in kinds:
        return tuple(_within(part, chunk) for part in chunk.parts)
    if PartKind.SYMBOL in kinds:
        return tuple(statement_spans(chunk.content))
    messages = [part for part in chunk.parts if part.kind in (PartKind.MESSAGE, PartKind.NOTICE)]
    if not messages:
        in_parts = any(part.page is not None or part.body is not None for part in chunk.parts)
        return tuple(_part_spans(chunk, language) if in_parts else _sentences(chunk.content, 0, language))
    spans = []
    for start, end in (_own_text(part, chunk) for part in messages if part.kind is PartKind.MESSAGE):
        spans += [(start + first, start + last) for first, last in sentence_spans(chunk.content[start:end], language)]
    return tuple(spans)


def _part_spans(chunk: Chunk, language: str) -> Iterator[Span]:
    """Yield rows of a PDF's tables, statements of a notebook's code, and sentences of all other parts."""
    runs: list[tuple[int, int, bool, bool]] = []
    for part in chunk.parts:
        start, end = _own_text(part, chunk)
        is_row, is_code = len(part.cells) > 0, part.kind is PartKind.CELL and part.body is not None
        if runs and runs[-1][1] == start and not any((is_row, is_code, *runs[-1][2:])):
            start = runs.pop()[0]
        runs.append((start, end, is_row, is_code))
    for start, end, is_row, is_code in runs:
        if is_row:
            row = trim(chunk.content, start, end)
            if not is_furniture(chunk.content, *row):
                yield row
        elif is_code:
            yield from ((start + first, start + last) for first, last in statement_spans(chunk.content[start:end]))
        else:
            yield from _sentences(chunk.content[start:end], start, language)


def _sentences(text: str, shift: int, language: str) -> Iterator[Span]:
    """Yield the sentences of a text that begins at offset `shift`, without headings, rules and the like."""
    for start, end in sentence_spans(text, language):
        if not is_furniture(text, start, end):
            yield shift + start, shift + end


def _own_text(part: Part, chunk: Chunk) -> Span:
    """Return the span of a part's text, without the heading with which the part may begin."""
    start, end = _within(part, chunk)
    if part.body is not None:
        return min(max(start, part.body - chunk.start), end), end
    if not part.headings:
        return start, end
    heading = re.compile(r"\s*" + r"\s+".join(map(re.escape, part.headings[-1].split())) + r"\s*(?:\n|$)")
    found = heading.match(chunk.content, start, end)
    return found.end() if found else start, end


def _within(part: Part, chunk: Chunk) -> Span:
    return max(part.start, chunk.start) - chunk.start, min(part.end, chunk.end) - chunk.start


MAX_LINES = 8  # lines of a statement that can still be read as a quote; a guess, not measured
MAX_CHARACTERS = 600  # characters of a statement at most, for minified code; a guess, not measured

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|%)")
_WORD = re.compile(r"\w")
_QUOTES = re.compile(r'"""|\'\'\'')
# Brackets in strings and in comments after code don't count.
_QUIET = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?:#|//).*')


def statement_spans(code: str) -> list[Span]:
    """Return start and end of each quotable span, in order and trimmed; lines with only brackets are left out."""
    spans: list[Span] = []
    reader = _Reader()
    for line in _LINE.finditer(code):
        start, end = line.span()
        text = line[0]
        if not text.strip():
            reader.blank()
            continue
        first, last = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
        if reader.continues(text) and spans and end - spans[-1][0] <= MAX_CHARACTERS:
            spans[-1] = (spans[-1][0], last)
        else:
            reader.lines = 0
            spans.append((first, last))
        reader.take(text)
    return [(start, end) for start, end in spans if _WORD.search(code, start, end)]


class _Reader:
    """Tracks which brackets, docstrings and comments are open after the lines so far, in any language.

    `lines` is the number of lines of the current span.
    """

    def __init__(self) -> None:
        self.lines = 0
        self._depth = 0
        self._in_text = False
        self._in_comment = False

    def blank(self) -> None:
        """End the span and any comment at a blank line; open brackets and docstrings stay open."""
        self.lines = MAX_LINES
        self._in_comment = False

    def continues(self, line: str) -> bool:
        """Whether a line belongs to the current span."""
        if not 0 < self.lines < MAX_LINES:
            return False
        return self._in_text or self._depth > 0 or (self._in_comment and bool(_COMMENT.match(line)))

    def take(self, line: str) -> None:
        """Update the state with the brackets, strings and comments that the line opens or closes."""
        self.lines += 1
        marks = len(_QUOTES.findall(line))
        if self._in_text or marks % 2:
            self._in_text ^= bool(marks % 2)
            self._in_comment = False
            return
        self._in_comment = bool(_COMMENT.match(line))
        if self._in_comment or marks:
            return
        bare = _QUIET.sub("", line)
        # Braces enclose blocks, whose statements are spans of their own.
        depth = self._depth + sum(map(bare.count, "([")) - sum(map(bare.count, ")]"))
        self._depth = max(0, depth)
