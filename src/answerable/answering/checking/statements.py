"""Split a model's answer into statements, with their citation marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from answerable.text.sentences import sentence_spans

LONGEST_OPEN = 6
"""Maximum number of sentences in one quotation. A round number, not measured."""

_MARK = re.compile(
    r"\s?(?:\[\^?([0-9]{1,4}(?:\s{0,2}[,;–-]\s{0,2}[0-9]{1,4}){0,20})\]|【([0-9]{1,4})(?:[^】\n]{0,40})】)"
    r"(?:\(https?://[^\s()]{0,300}\))?"
)
_NUMBERS = re.compile(r"([0-9]+)(?:\s*[–-]\s*([0-9]+))?")
_FENCE = re.compile(r"(?m)^[ \t]{0,12}(`{3,}|~{3,})[^\n]*$")
_PREFIX = re.compile(r"\s*(?:(?:[-*+•·‣–—]|\d{1,3}[.)]|[a-z]\)|#{1,6}|>)[ \t]+){0,6}")
_HEADING = re.compile(r"\s*(?:>\s?)?#{1,6}\s")
_BOLD_LINE = re.compile(r"(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__)[:.]?")
_ROW = re.compile(r"\s*\|[^\n]*\|\s*")
_RULE = re.compile(r"[-*_=|:\s]+")
_TAIL = re.compile(r"[.!?…。！？]*[\"'”’»)*_]*$")
_CLOSING_EMPHASIS = re.compile(r"([*_]{1,3})(?:\s+|$)")
_STOPS = ".!?…。！？"
_STRAIGHT = '"'
_CLOSING = {_STRAIGHT: _STRAIGHT, "“": "”", "«": "»", "‘": "’", "„": "“”", "‟": "”"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, list item, table row or code block of an answer.

    `gap` is the text before the statement, `prefix` its list or heading marker, `body` its text without citation marks,
    `marks` the numbers of these marks in order, and `written` the whole statement. `marks_follow` is true if the
    citation marks come after the final punctuation mark; it is None without citation marks.
    """

    gap: str
    prefix: str
    body: str
    marks: tuple[int, ...]
    marks_follow: bool | None
    is_code: bool = False
    is_row: bool = False
    is_label: bool = False
    written: str = ""

    @property
    def is_furniture(self) -> bool:
        """Whether the statement is a horizontal rule, or the line under a table's header."""
        return not self.is_code and bool(_RULE.fullmatch(self.body))

    def cited(self, marks: str) -> str:
        """Return the body with other marks: after or before its final punctuation, in a row's last cell, below code."""
        body = self.body
        if not marks:
            return body
        if self.is_code:
            return f"{body}\n{marks}"
        if self.is_row:
            cells = body.rstrip()[:-1].rstrip()
            return f"{cells} {marks} |"
        tail = _TAIL.search(body[-8:])
        stops = tail[0] if tail else ""
        place = len(body) - len(stops) if stops[:1] in _STOPS else len(body)
        if self.marks_follow or place == len(body) or set(stops) - set(_STOPS):
            return f"{body} {marks}"
        return f"{body[:place]} {marks}{body[place:]}"


def read_statements(text: str, language: str, passages: int) -> list[Statement]:
    """Return the statements of an answer in order; `passages` is the number of passages."""
    pieces = _hang_marks(text, list(_spans(text, language)))
    statements = []
    reached = 0
    for start, end, is_code in pieces:
        read = _read(text[reached:start], text[start:end], is_code, passages)
        statements.append(replace(read, written=text[start:end]))
        reached = end
    return statements


def _spans(text: str, language: str) -> Iterator[tuple[int, int, bool]]:
    reached = 0
    for start, end in _code_blocks(text):
        yield from ((*span, False) for span in _sentences(text, reached, start, language))
        yield start, end, True
        reached = end
    yield from ((*span, False) for span in _sentences(text, reached, len(text), language))


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]):
            yield opened.start(), fence.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def _sentences(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """Yield sentence spans; a quotation of several sentences is kept whole."""
    opened: tuple[int, int] | None = None
    count = 0
    pieces = [
        (start + line_start + first, start + line_start + last)
        for line_start, line_end in _lines(text[start:end])
        for first, last in sentence_spans(text[start + line_start : start + line_end], language)
    ]
    pieces = _with_closing_emphasis(text, pieces)
    for index, (first, last) in enumerate(pieces):
        if opened is None:
            opened, count = (first, last), 1
        else:
            opened, count = (opened[0], last), count + 1
        following = pieces[index + 1 : index + 1 + LONGEST_OPEN]
        is_open = count < LONGEST_OPEN and _is_open(text[opened[0] : opened[1]])
        if is_open and following and "\n" not in text[last : following[0][0]] and _closes(text, last, following):
            continue
        yield opened
        opened = None


def _with_closing_emphasis(text: str, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the sentence spans, with closing emphasis marks (`**`) moved to the sentence that they close."""
    found: list[tuple[int, int]] = []
    for first, last in pieces:
        if found and found[-1][1] == first and (closing := _CLOSING_EMPHASIS.match(text, first, last)):
            found[-1] = (found[-1][0], closing.end(1))
            first = closing.end()
        if first < last:
            found.append((first, last))
    return found


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of lines. Models don't wrap lines, so each line end also ends a sentence."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def _is_open(piece: str) -> bool:
    return piece.count('"') % 2 == 1 or any(
        piece.count(opening) > sum(piece.count(one) for one in closing)
        for opening, closing in _CLOSING.items()
        if opening not in ("‘", _STRAIGHT)
    )


def _closes(text: str, last: int, following: Sequence[tuple[int, int]]) -> bool:
    """Return whether the quotation that is open at `last` is closed nearby on the same line."""
    rest = text[last : following[-1][1]].split("\n", 1)[0]
    return any(mark in rest for mark in '"”»“')


def _hang_marks(text: str, pieces: list[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
    """Move citation marks at the start of a piece to the previous piece, unless that is far away."""
    hung: list[tuple[int, int, bool]] = []
    for start, end, is_code in pieces:
        if not is_code and hung and not text[hung[-1][1] : start].count("\n") > 1 + hung[-1][2]:
            marks_end = start
            while match := _MARK.match(text, marks_end, end):
                marks_end = match.end()
            is_alone = not text[marks_end:end].strip(" .\n")
            if marks_end > start and (is_alone or "\n" not in text[hung[-1][1] : start]):
                first, _, was_code = hung[-1]
                hung[-1] = (first, end if is_alone else marks_end, was_code)
                start = end if is_alone else marks_end
                start += len(text[start:end]) - len(text[start:end].lstrip())
        if start < end:
            hung.append((start, end, is_code))
    return hung


def _read(gap: str, piece: str, is_code: bool, passages: int) -> Statement:
    code, rest = _cut_code(piece) if is_code else ("", piece)
    numbers: list[int] = []
    kept: list[str] = []
    reached = 0
    follow: bool | None = None
    for match in _MARK.finditer(rest):
        if rest.count("`", 0, match.start()) % 2 and "`" in rest[match.end() :]:
            continue
        numbers += _named(match[1] or match[2], passages)
        before = rest[reached : match.start()]
        kept.append(before)
        shown = "".join(kept).rstrip()
        follow = bool(shown) and shown.rstrip("\"'”’»)*_")[-1:] in _STOPS
        reached = match.end()
    body = "".join([*kept, rest[reached:]]).rstrip()
    if is_code:
        return Statement(gap, "", code, tuple(dict.fromkeys(numbers)), True, is_code=True)
    found = _PREFIX.match(body)
    prefix = found[0] if found and not _RULE.fullmatch(body) else ""
    text = body[len(prefix) :]
    is_row = bool(_ROW.fullmatch(text))
    is_label = bool(_HEADING.match(body) or _BOLD_LINE.fullmatch(text) or text.rstrip("*_ ").endswith(":"))
    return Statement(gap, prefix, text, tuple(dict.fromkeys(numbers)), follow, is_row=is_row, is_label=is_label)


def _cut_code(piece: str) -> tuple[str, str]:
    """Split a piece into a code block and the citation marks after it."""
    for block in _code_blocks(piece):
        return piece[: block[1]], piece[block[1] :]
    return piece, ""


def _named(text: str, passages: int) -> Iterator[int]:
    for match in _NUMBERS.finditer(text):
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if last - first > 0:
            yield from range(max(first, 1), min(last, passages) + 1)
        else:
            yield first
