"""The default splitter: by sections, or for chats, code and records as the document's format requires.

Chats are cut into windows of whole messages that belong to one conversation, code into whole functions and classes if
they fit and otherwise into whole lines, and records between rows of a table or objects of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import groupby, pairwise
from statistics import median

from answerable.datatypes import Chunk, Document, DocumentType, Part, Span
from answerable.formats.format import Split
from answerable.formats.locate import Locator
from answerable.formats.registry import FORMAT, format_of, usual_format
from answerable.protocols import TextSplitter
from answerable.splitting.make_chunks import check_sizes, make_chunks, pack
from answerable.splitting.recursive import LINE, WORD, RecursiveSplitter


class SplitterByType:
    """Split chats by messages, documents with headings or pages by sections, code by functions, tables by rows.

    `others` returns the splitter for a plug-in's format, or for a type that has no splitter here. A document that this
    other splitter can't split is split as if there were no other splitter.
    """

    def __init__(
        self,
        chunk_size: int = 1800,
        chunk_overlap: int = 200,
        others: Callable[[str], TextSplitter | None] = lambda name: None,
    ) -> None:
        recursive = RecursiveSplitter(chunk_size, chunk_overlap)
        self._splitters: dict[Split, TextSplitter] = {
            **dict.fromkeys((Split.HEADINGS, Split.PAGES, Split.MARKUP), HeadingSplitter(recursive)),
            Split.MESSAGES: ChatSplitter(recursive),
            Split.SYMBOLS: CodeSplitter(chunk_size, chunk_overlap),
            Split.ROWS: RecordSplitter(recursive),
            Split.SHEETS: SheetSplitter(recursive),
            Split.PARAGRAPHS: recursive,
        }
        self._others = others

    @property
    def types(self) -> frozenset[DocumentType]:
        """The types that have a splitter of their own in this module."""
        return frozenset(kind for kind in DocumentType if usual_format(kind).split is not Split.PARAGRAPHS)

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        split = format_of(document).split
        other = self._others(str(document.metadata[FORMAT])) if document.metadata.get(FORMAT) else None
        other = other or (self._others(document.type) if split is Split.PARAGRAPHS else None)
        return (other.split(document) if other else []) or self._splitters[split].split(document)


class _Spans:
    """Cuts a document into spans of whole pieces; the splitter `within` cuts pieces that are too long."""

    def __init__(self, within: RecursiveSplitter) -> None:
        self._within = within

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        return self._within.chunks(document, self._spans(document))

    def _spans(self, document: Document) -> Iterable[Span]:
        raise NotImplementedError


# A reply may come only the next morning.
SILENCE = timedelta(hours=12).total_seconds()
USUAL = 10  # silence that ends a conversation, in median gaps between messages; a guess, not measured


class ChatSplitter(_Spans):
    """Windows of `window_size` messages that overlap by `window_overlap`, in chunks that fit the splitter `within`.

    A window ends at a long silence, without overlap: more than 12 hours, and more than 10 times the median gap between
    messages, so that a chat of one message a day stays together. `within` also cuts messages that are too long. Raises
    ValueError for invalid numbers.
    """

    def __init__(self, within: RecursiveSplitter, window_size: int = 30, window_overlap: int = 10) -> None:
        check_sizes(window_size=window_size, window_overlap=window_overlap)
        super().__init__(within)
        self.window_size = window_size
        self.window_overlap = window_overlap

    def _spans(self, document: Document) -> Iterator[Span]:
        parts, size = document.parts, self._within.chunk_size
        if not parts:
            yield 0, len(document.content)
            return
        # Text between two messages belongs to the first one, so that the windows cover everything.
        starts = [0, *(part.start for part in parts[1:]), len(document.content)]
        first = 0
        for end in _conversation_ends(parts):
            while first < end:
                last = first + 1
                while last < end and last - first < self.window_size and starts[last + 1] - starts[first] <= size:
                    last += 1
                yield starts[first], starts[last]
                if last == end:
                    break
                # In a window shortened by long messages, the overlap is smaller. It leaves room for the next message,
                # so that every window has a new message.
                first = last - self.window_overlap * (last - first) // self.window_size
                while first < last and starts[last + 1] - starts[first] > size:
                    first += 1
            first = end


def _conversation_ends(parts: Sequence[Part]) -> Iterator[int]:
    """Yield the index after the last message of each conversation."""
    gaps = [
        abs((after.time - before.time).total_seconds()) if after.time and before.time else 0.0
        for before, after in pairwise(parts)
    ]
    longest = max(SILENCE, USUAL * median(gaps)) if gaps else 0.0
    yield from (index for index, gap in enumerate(gaps, 1) if gap > longest)
    yield len(parts)


_PARAGRAPH = r"\n[ \t]*\n(?:[ \t]*\n)*"


class CodeSplitter(_Spans):
    """One chunk per class or function: small neighbours share a chunk, long ones are cut between their parts.

    A part that is still too long is cut at blank lines and line ends, with an overlap of up to `chunk_overlap`
    characters. Raises ValueError for invalid sizes.
    """

    def __init__(self, chunk_size: int = 1800, chunk_overlap: int = 200) -> None:
        super().__init__(RecursiveSplitter(chunk_size, chunk_overlap, (_PARAGRAPH, LINE, WORD)))

    def _spans(self, document: Document) -> Iterator[Span]:
        for group in self._groups(document):
            yield from pack(group, self._within.chunk_size)

    def _groups(self, document: Document) -> Iterator[list[int]]:
        """Yield the starts of pieces that may share a chunk, with the end of the last piece."""
        starts: list[int] = [0]
        end = 0
        for _, found in groupby(document.parts, key=lambda part: (part.symbol or "").partition(".")[0]):
            parts = list(found)
            end = parts[-1].end
            if end - parts[0].start <= self._within.chunk_size:
                starts.append(end)
                continue
            # A class that is too long for one chunk begins a new chunk, and so does the code after the class.
            if len(starts) > 1:
                yield starts
            yield [starts[-1], *(part.end for part in parts)]
            starts = [end]
        if end < len(document.content):
            starts.append(len(document.content))
        if len(starts) > 1:
            yield starts


class RecordSplitter(_Spans):
    """Puts as many whole records into a chunk as fit; the splitter `within` cuts a record that is too long."""

    def _spans(self, document: Document) -> Iterator[Span]:
        # Text between two records belongs to the record before it; text before all records belongs to the first record.
        starts = [0, *(part.start for part in document.parts[1:]), len(document.content)]
        return pack(starts, self._within.chunk_size)


class SheetSplitter(_Spans):
    """Puts as many whole rows of one sheet into a chunk as fit; the splitter `within` cuts a row that is too long."""

    def _spans(self, document: Document) -> Iterator[Span]:
        begin = 0
        for _, rows in groupby(document.parts, lambda part: part.headings):
            first, *others = rows
            end = (others or [first])[-1].end
            # The text before the first row is the sheet's name.
            starts = [begin, *(part.start for part in others), end]
            yield from pack(starts, self._within.chunk_size)
            begin = end
        if begin < len(document.content):
            yield begin, len(document.content)


# Characters: on the page, a heading may begin with a number or word that its path lacks: "Chapter 3".
NUMBER = 30
GAP = 200
"""Characters: longer comments between the parts of a section aren't part of its chunks."""


class HeadingSplitter(_Spans):
    """One chunk per section; the splitter `within` cuts long sections. A mere heading joins the next section."""

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space and what no part covers."""
        if format_of(document).split is not Split.MARKUP:
            return super().split(document)
        # Each chunk must contain text of a part.
        locator = Locator(document)
        cuts = (cut for span in _sections_of_markup(document) for cut in self._within.spans(document.content, *span))
        return make_chunks(document, (cut for cut in cuts if locator.parts(*cut)))

    def _spans(self, document: Document) -> Iterator[Span]:
        return (_sections_across_pages if format_of(document).split is Split.PAGES else _sections)(document)


def _sections(document: Document) -> Iterator[Span]:
    start = reached = 0
    for part in document.parts:
        text = document.content[reached : part.end].strip()
        reached = part.end
        if "\n" in text or not text.startswith("#"):
            yield start, part.end
            start = part.end
    if start < len(document.content):
        yield start, len(document.content)


def _sections_of_markup(document: Document) -> Iterator[Span]:
    """Yield the spans of sections, without long texts between their parts, such as comments in the markup."""
    start = end = -1
    has_text = False
    headings: tuple[str, ...] = ()
    for part in document.parts:
        is_apart = part.start - end > GAP
        if start >= 0 and (is_apart or (has_text and part.headings != headings)):
            yield start, end
            start = -1
        if start < 0:
            start, has_text = part.start, False
        end, headings = part.end, part.headings
        has_text = has_text or bool(document.content[part.start if part.body is None else part.body : end].strip())
    if start >= 0:
        yield start, end


def _sections_across_pages(document: Document) -> Iterator[Span]:
    """Yield the spans of sections: a new one begins where the headings change, unless the last has only a heading."""
    started = None
    start = 0
    for before, part in pairwise(document.parts):
        started = started or before
        if part.headings == before.headings:
            continue
        between = document.content[started.start : part.start].strip()
        if not started.headings or len(between) > len(started.headings[-1]) + NUMBER:
            yield start, part.start
            start, started = part.start, part
    yield start, len(document.content)
