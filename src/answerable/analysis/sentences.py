"""Text → the spans of its sentences.

`sentencex` does the rules of each language. Around it: blank lines always end a sentence; lines of lists, tables,
labels (`Price: 30`), figures, headings and code fences stand for themselves, while a line break inside a paragraph
(as PDFs have) doesn't end anything; abbreviations that it lacks don't either; and a run that it leaves whole for
hundreds of characters, as it does behind an unbalanced bracket, is cut at its full stops.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

import sentencex

LONG = 400
SHORT = 0.6
FEW_LINES = 3
BLOCK = 2000
TAIL = 20

_KNOWN = """
art av cap cia dep ed eng exa exas exma exmo fig fl fls gen inc jr ltda n nº núm num obs op pág pag págs pp prof profa
profs sra sras srta srtas dra dras sto sta tel trad vol vols vs
"""
_BLANK_LINES = re.compile(r"\n[ \t\r\f\v]*\n|\f")
_ITEM = r"[-*+•·‣–—] |\d{1,3}[.)]\s|[a-z]\) |\d{1,2}(?:\.\d{1,2}){1,3}\.? +[A-ZÀ-ÖØ-Þ]"
_OWN_LINE = re.compile(rf"\n(?=[ \t]*(?:{_ITEM}|[#>|]|```|~~~|:::))")
_ROW = r"(?:[^\W\d_][^\n:.!?]{0,30}:[ \t]\S|[^\s|][^\n]*?(?: \||\t))"
_BETWEEN_ROWS = re.compile(rf"(?m)^(?={_ROW})[^\n]*\n(?={_ROW})")
# A row of a table that became plain text: words, then two figures at the end.
_FIGURE = r"[^\s\w]*\d[\d.,]*%?"
_FIGURE_ROW = re.compile(rf"(?m)^[ \t]*[^\W\d_][^\n]{{0,120}}?[ \t]{_FIGURE}[ \t]+{_FIGURE}[ \t]*(?:\n|\Z)")
_TABLE_ROW = re.compile(r"\s*\|[^\n]*\|\s*")
_LINE = re.compile(r"(?m)^[^\n]*\n")
_AFTER_OWN_LINE = re.compile(r"(?m)^[ \t]*(?:#{1,6} .*|\|.*\|[ \t]*|```.*|~~~.*|:::.*)\n")
_FULL_STOP = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*\s+(?=[\"'“‘«(\[¿¡]*[A-ZÀ-ÖØ-Þ0-9])|[.!?…]\s+(?=[¿¡])|[。！？]+"
)
_INVERTED = re.compile(r"[.!?…][\"'”’»)]*\s+(?=[¿¡])")
_ABBREVIATIONS = frozenset(_KNOWN.split())
_NUMBER_OF_ITEM = re.compile(r"\s*\d{1,3}(?:\.\d{1,2})*[.)]\s*")
_LAST_WORD = re.compile(r"(\w+)\.\s*$")
_FURNITURE = re.compile(r"#{1,6}\s[^\n]*|[-*_=|:\s]+|(?:```|~~~|:::)[^\n]*")


def sentence_spans(text: str, language: str = "") -> list[tuple[int, int]]:
    """Start and end of each sentence, in order, without the white space around it; nothing else is left out."""
    spans = []
    for start, end in _paragraphs(text):
        is_row = end - start <= LONG and _TABLE_ROW.fullmatch(text, start, end)
        pieces = [(start, end)] if is_row else _boundaries(text, start, end, language or "en")
        for first, last in _join_abbreviations(text, pieces):
            piece = text[first:last]
            stripped = piece.strip()
            if stripped:
                begin = first + len(piece) - len(piece.lstrip())
                spans.append((begin, begin + len(stripped)))
    return spans


def is_furniture(text: str, start: int, end: int) -> bool:
    """Whether a span is a heading, a rule or a mark around code: nothing that says something by itself."""
    return _FURNITURE.fullmatch(text, start, end) is not None


def is_row(text: str, start: int, end: int) -> bool:
    """Whether a span is a row of a table: one in Markdown, or words with two figures at the end."""
    return any(pattern.fullmatch(text, start, end) for pattern in (_TABLE_ROW, _FIGURE_ROW))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    cuts = {0, len(text)}
    for pattern in (_BLANK_LINES, _OWN_LINE, _AFTER_OWN_LINE, _BETWEEN_ROWS):
        cuts.update(match.end() for match in pattern.finditer(text))
    cuts.update(_short_line_ends(text))
    cuts.update(_edges_of_figure_rows(text))
    ordered = sorted(cuts)
    return itertools.pairwise(ordered)


def _edges_of_figure_rows(text: str) -> Iterator[int]:
    """Where rows of figures begin and end, of which two or more follow each other."""
    for row, following in itertools.pairwise(_FIGURE_ROW.finditer(text)):
        if row.end() == following.start():
            yield from (*row.span(), following.end())


def _short_line_ends(text: str) -> Iterator[int]:
    """Ends of lines that stop early before a capital: headings and labels in text that is filled to a width."""
    lines = list(_LINE.finditer(text))
    if len(lines) < FEW_LINES:
        return
    lengths = sorted(len(line[0]) for line in lines)
    width = lengths[len(lengths) * 3 // 4]
    for line in lines:
        following = text[line.end() : line.end() + 1]
        is_short = len(line[0]) < SHORT * width and not line[0].rstrip().endswith(",")
        if is_short and not _NUMBER_OF_ITEM.fullmatch(line[0]) and (following.isupper() or following.isdigit()):
            yield line.end()


def _boundaries(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    # A line break inside a paragraph is a space to sentencex: same length, so the offsets stay.
    paragraph = text[start:end].replace("\n", " ")
    for first, last in itertools.pairwise(_sentence_cuts(paragraph, language)):
        pattern = _FULL_STOP if last - first > LONG else _INVERTED
        cut = first
        for match in pattern.finditer(paragraph, first, last):
            yield start + cut, start + match.end()
            cut = match.end()
        if cut < last:
            yield start + cut, start + last


def _sentence_cuts(paragraph: str, language: str) -> Iterator[int]:
    """Where sentences begin, and the end.

    `sentencex` takes time that grows with the square of the number of Chinese sentences, for one: a long paragraph goes
    to it block by block, each from where the last sentence of the one before began. The end of a block doesn't cut.
    """
    start = reached = 0
    yield 0
    while reached < len(paragraph):
        reached = start + BLOCK
        cuts = [each["end_index"] for each in sentencex.get_sentence_boundaries(language, paragraph[start:reached])]
        yield from (start + cut for cut in cuts[:-1])
        start = start + cuts[-2] if len(cuts) > 1 and reached < len(paragraph) else reached
    yield len(paragraph)


def _join_abbreviations(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and _is_open(text[max(joined[-1][0], joined[-1][1] - TAIL) : joined[-1][1]], text[start : start + 1]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _is_open(sentence: str, following: str) -> bool:
    """Whether a piece (its tail will do) ends in an abbreviation, so that what follows belongs to it."""
    if following in "ºª°" or _NUMBER_OF_ITEM.fullmatch(sentence):
        return True
    word = _LAST_WORD.search(sentence)
    if word is None or following in "¿¡":
        return False
    # "n." and its like are abbreviations before a number only: "no." and "fig." end sentences too.
    return word[1].lower() in _ABBREVIATIONS and (word[1][0].isupper() or following.isdigit() or following.islower())
