"""How a span of a document is presented to people: where it is, and its text without Markdown's marks.

A place consists of lines, pages, headings, times, senders, symbols or seconds. Marks (`**24** months` → `24 months`)
are paired within the paragraph, so a quote may begin or end inside bold text. Code keeps its characters; a link keeps
its address. Only the presentation changes: a citation's quote stays verbatim.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, Union

from answerable.datatypes import Citation, Document, DocumentType, Location, Part, PartKind
from answerable.formats.format import WITH_LINES, Markdown
from answerable.formats.registry import format_of

if TYPE_CHECKING:
    from answerable.protocols.stores import StoredDocument

_NUMBERED = frozenset({PartKind.SLIDE, PartKind.CELL})
_LINE_END = re.compile(r"\n")


class Locator:
    """Finds places in one document, each in logarithmic time."""

    def __init__(self, document: Document) -> None:
        self._parts = document.parts
        self._has_lines = format_of(document).places in WITH_LINES
        self._starts = [part.start for part in document.parts]
        heard = {part.start - 1 for part in document.parts if part.is_heard}
        ends = (match.start() for match in _LINE_END.finditer(document.content))
        self._line_ends = [end for end in ends if end not in heard] if heard else list(ends)

    def parts(self, start: int, end: int) -> tuple[Part, ...]:
        """Return the parts that a span touches, in order."""
        if not self._parts:
            return ()
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_right(self._starts, max(end - 1, start))
        return tuple(part for part in self._parts[first:last] if part.end > start)

    def lines(self, start: int, end: int) -> tuple[int, int]:
        """Return the numbers, from 1, of the first and the last line of a span."""
        return bisect_right(self._line_ends, start - 1) + 1, bisect_right(self._line_ends, max(end - 2, start - 1)) + 1

    def location(self, start: int, end: int) -> Location:
        """Return the place of a span."""
        return locate(self.parts(start, end), self.lines(start, end) if self._has_lines else None)


def locate(parts: tuple[Part, ...], lines: tuple[int, int] | None) -> Location:
    """Return the place of a span that touches these parts and lines."""
    if not parts:
        return Location(lines)
    numbered = [part for part in parts if part.page is not None]
    pages = [part.page for part in parts if part.page is not None]
    times = [part.time for part in parts if part.time is not None]
    messages = [part for part in parts if part.kind is PartKind.MESSAGE]
    senders = [part.sender for part in messages if part.sender]
    seconds = [part.seconds for part in parts if part.seconds is not None]
    section = next((part for part in parts if part.headings), None)
    return Location(
        lines=lines,
        pages=(pages[0], pages[-1]) if pages else None,
        headings=section.headings if section else (),
        anchor=section.anchor if section else next((part.anchor for part in messages if part.anchor), None),
        times=(min(times), max(times)) if times else None,
        senders=tuple(dict.fromkeys(senders)),
        symbol=_common([part.symbol.split(".") for part in parts if part.symbol]),
        unit=numbered[0].kind if numbered and numbered[0].kind in _NUMBERED else PartKind.PAGE,
        place=_place([part.place for part in parts if part.place]),
        seconds=(seconds[0], seconds[-1]) if seconds else None,
    )


def _place(places: list[str]) -> str | None:
    """Return the only place, or a range of places: `Costs!A2:F9` for `Costs!A2:F2` to `Costs!A9:F9`."""
    if not places:
        return None
    first, last = places[0], places[-1]
    sheet, _, cells = first.rpartition("!")
    other, _, ends = last.rpartition("!")
    if first == last or not sheet:
        return first
    end = ends.partition(":")[2] or ends
    return f"{sheet}!{cells.partition(':')[0]}:{end}" if sheet == other else f"{first} to {last}"


def _common(paths: list[list[str]]) -> str | None:
    """Return the innermost symbol that contains all of these paths; the first path if no symbol does."""
    if not paths:
        return None
    shared = [steps[0] for steps in takewhile(lambda steps: len(set(steps)) == 1, zip(*paths, strict=False))]
    return ".".join(shared or paths[0])


Named = Union[Document, "StoredDocument", Citation]
"""What has a source, a title and a type: a document, a description of a document, or a quote from it."""


def shown_name(found: Named) -> str:
    """Return the name to show: an e-mail's subject, a page's title, or the file name of any other document."""
    has_file_name = found.source and "://" not in found.source and found.type != DocumentType.MAIL
    return found.source.rpartition("/")[2] if has_file_name else found.title or found.source or "untitled"


def shown_source(found: Named) -> str:
    """Return the source to show; for an e-mail in a mailbox only the mailbox, since the rest is the e-mail's id."""
    return found.source.partition("!/")[0] if found.type == DocumentType.MAIL else found.source


REACH = 4_000
"""Characters: how far from the quote its paragraph is read."""

_ANY = re.compile(r"[]\[*_`~\\<>#]")
_FENCE = re.compile(r"^[ \t]*(?:>[ \t]?)*(?:```|~~~)", re.MULTILINE)
_LINE = re.compile(r"^(?P<quoted>[ \t]*(?:>[ \t]?)+)?(?P<heading>[ \t]{0,3}#{1,6}[ \t]+)?", re.MULTILINE)
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_INDENTED = re.compile(r"(?: {4}|\t)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_MARK = re.compile(
    r"""
      \\(?P<escaped>[*_`\#<>|~])
    | (?P<ticks>`+)(?!`)
    | (?P<wiki>!?\[\[)(?P<note>[^\[\]|\n]+)(?:\|(?P<shown>[^\[\]\n]+))?\]\]
    | (?P<open>!?\[)(?P<label>(?:[^\[\]\\]|\\.|!\[[^\[\]]*\]\([^()]*\))*)\]
      \((?P<url>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+(?:"[^"]*"|'[^']*'))?\)
    | <(?P<address>(?:https?|mailto):[^<>\s]+)>
    | (?P<run>\*+|_+)
    """,
    re.VERBOSE,
)
_ADDRESS = re.compile(r"(?:https?://|mailto:|tel:)", re.IGNORECASE)


class _Mark(NamedTuple):
    """A span of the document, and the text that is shown in its place."""

    start: int
    end: int
    shown: str = ""


class _Run(NamedTuple):
    start: int
    length: int
    kind: str
    opens: bool
    closes: bool


def without_marks(document: Document, start: int, end: int) -> str:
    """Return a span of a document as it is shown to people; documents that aren't Markdown keep every character."""
    content, marks = document.content, format_of(document).markdown
    if marks is Markdown.NONE or not _ANY.search(content, start, end):
        return content[start:end]
    return "".join(
        content[first:last] if is_code else _shown(content, first, last, marks is Markdown.ALL)
        for is_code, first, last in _blocks(content, start, end)
    )


def _blocks(content: str, start: int, end: int) -> Iterator[tuple[bool, int, int]]:
    """Yield the code and the text of a span, without the fences between them."""
    is_code, done = sum(1 for _ in _FENCE.finditer(content, 0, start)) % 2 == 1, start
    for fence in _FENCE.finditer(content, start, end):
        yield is_code, done, max(done, fence.start())
        line_end = content.find("\n", fence.end(), end)
        is_code, done = not is_code, line_end + 1 if line_end >= 0 else end
    yield is_code or _is_indented_code(content, done), done, end


def _is_indented_code(content: str, start: int) -> bool:
    """Return whether a line is indented and not part of a list."""
    begin = content.rfind("\n", 0, start) + 1
    if not _INDENTED.match(content, begin):
        return False
    above = content[max(0, begin - REACH) : begin].splitlines()
    outer = next((line for line in reversed(above) if line.strip() and not _INDENTED.match(line)), "")
    return not _ITEM.match(outer)


def _shown(content: str, start: int, end: int, is_markdown: bool) -> str:
    first, last = _paragraph(content, start, end)
    found = [*_line_marks(content, first, last), *(_inline_marks(content, first, last) if is_markdown else ())]
    shown, done = [], start
    for mark in sorted(found):
        if mark.start < done or mark.end > end:
            # A mark that the span cuts in two is left out, with its rest.
            done = max(done, min(mark.end, end)) if mark.start < end else done
            continue
        shown += [content[done : mark.start], mark.shown]
        done = mark.end
    return "".join((*shown, content[done:end]))


def _paragraph(content: str, start: int, end: int) -> tuple[int, int]:
    """Return where the paragraph around a span begins and ends, at most `REACH` characters away."""
    furthest = max(0, start - REACH)
    blank = content.rfind("\n\n", furthest, start)
    first = blank + 2 if blank >= 0 else furthest
    for fence in _FENCE.finditer(content, first, start):
        first = content.find("\n", fence.end(), start) + 1 or start
    below = content.find("\n\n", end, end + REACH)
    last = below if below >= 0 else min(len(content), end + REACH)
    fenced = _FENCE.search(content, end, last)
    return first, fenced.start() if fenced else last


def _line_marks(content: str, first: int, last: int) -> Iterator[_Mark]:
    for line in _LINE.finditer(content, first, last):
        if line["quoted"]:
            yield _Mark(*line.span("quoted"))
        if line["heading"]:
            yield _Mark(*line.span("heading"))
            stop = content.find("\n", line.end(), last)
            closing = _CLOSING.search(content, line.end(), last if stop < 0 else stop)
            if closing:
                yield _Mark(*closing.span())


def _inline_marks(content: str, first: int, last: int) -> Iterator[_Mark]:
    runs: list[_Run] = []
    yield from _scan(content, first, last, runs)
    yield from _paired(runs)


def _scan(content: str, first: int, last: int, runs: list[_Run]) -> Iterator[_Mark]:
    """Yield the marks of code, links and escapes; collect the runs of asterisks and underscores."""
    place = first
    while found := _MARK.search(content, place, last):
        place = found.end()
        if found["escaped"]:
            yield _Mark(found.start(), found.start() + 1)
        elif ticks := found["ticks"]:
            closing = re.compile(rf"(?<!`){ticks}(?!`)").search(content, place, last)
            if closing:
                yield _Mark(*found.span())
                yield _Mark(*closing.span())
                place = closing.end()
        elif found["note"]:
            yield _Mark(*found.span(), found["shown"] or found["note"])
        elif found["open"]:
            yield _Mark(*found.span("open"))
            yield from _scan(content, *found.span("label"), runs)
            yield _Mark(found.end("label"), found.end(), _address(found))
        elif found["address"]:
            yield _Mark(*found.span(), found["address"])
        else:
            runs.append(_run(content, *found.span(), first, last))


def _address(found: re.Match[str]) -> str:
    """Return the address to show after the text of a link: "" if it is relative or the text already shows it."""
    url = found["url"]
    if found["open"].startswith("!") or not _ADDRESS.match(url) or url.partition(":")[2].strip("/") in found["label"]:
        return ""
    return f" ({url})"


def _run(content: str, start: int, end: int, first: int, last: int) -> _Run:
    """Return a run of marks, with whether it may open or close emphasis by the rules of CommonMark."""
    before = content[start - 1] if start > first else " "
    after = content[end] if end < last else " "
    left = not after.isspace() and (not _is_punctuation(after) or before.isspace() or _is_punctuation(before))
    right = not before.isspace() and (not _is_punctuation(before) or after.isspace() or _is_punctuation(after))
    kind = content[start]
    if kind == "_":
        left, right = left and (not right or _is_punctuation(before)), right and (not left or _is_punctuation(after))
    elif end - start == 1 and before.isalnum() and after.isalnum():
        # 2*3*4 is more often a product than an italic 3.
        left = right = False
    return _Run(start, end - start, kind, left, right)


def _paired(runs: list[_Run]) -> Iterator[_Mark]:
    """Yield the characters of runs that open and close emphasis together."""
    opened: list[_Run] = []
    for run in runs:
        rest = run
        while rest.closes and rest.length:
            at = next((at for at in range(len(opened) - 1, -1, -1) if opened[at].kind == rest.kind), -1)
            if at < 0:
                break
            opener = opened[at]
            del opened[at + 1 :]
            size = min(opener.length, rest.length)
            yield _Mark(opener.start + opener.length - size, opener.start + opener.length)
            yield _Mark(rest.start, rest.start + size)
            opened[at:] = [opener._replace(length=opener.length - size)] if opener.length > size else []
            rest = rest._replace(start=rest.start + size, length=rest.length - size)
        if rest.opens and rest.length:
            opened.append(rest)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
