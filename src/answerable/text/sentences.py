"""Find the spans of the sentences of a text.

`sentencex` applies the rules of each language. In addition: blank lines end a sentence; list items, table rows, labels
(`Price: 30`), headings, code fences and short lines are sentences of their own; any other line break inside a
paragraph, as in PDFs, doesn't end a sentence; cuts after abbreviations, numbers and initials are undone; footnote marks
belong to the sentence before them; and a "sentence" of hundreds of characters, as after an unbalanced bracket, is cut
at its full stops.

Abbreviations of all languages apply to most texts: an English quote in a Spanish text has English abbreviations.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import sentencex

from answerable.text.terms import STOP_WORDS
from answerable.text.word_lists import FOLDER, read_toml

_LISTS = {kind: frozenset(words.split()) for kind, words in read_toml(FOLDER / "abbreviations.toml").items()}
_BEFORE_NAMES, _AFTER_NAMES = _LISTS["before_names"], _LISTS["after_names"]
_BEFORE_NUMBERS, _AT_ENDS = _LISTS["before_numbers"], _LISTS["at_ends"]
_ALL = frozenset().union(*_LISTS.values())
_NOT_AT_ENDS, _NOT_BEFORE_NUMBERS = _ALL - _AT_ENDS, _ALL - _BEFORE_NUMBERS
_BEFORE_WORDS = _NOT_AT_ENDS - _AFTER_NAMES - _BEFORE_NUMBERS
_FUNCTION_WORDS = frozenset().union(*STOP_WORDS.values())
_LAST_WORD = re.compile(r"(?<!\w)([^\W\d_]+[ºª]?)\.\s*$")
_UNIT = re.compile(r"\d\s*\w+\.\s*$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_DOTTED = re.compile(r"(?:^|[\s\d(\[\"'“«])(?:[^\W\d_]\.\s?)+$")
_ROMAN = re.compile(r"[IVXLC]+\b(?!')")
# I, V and X are left out, because as Roman numerals they number kings and wars.
_NAME_AND_INITIAL = re.compile(r"\b[A-ZÀ-ÖØ-Þ][^\W\d_]+ [A-HJ-UWYZ]\.\s*$")
_INITIAL = re.compile(r"[A-ZÀ-ÖØ-Þ]\.")
_ITEM_NUMBER = re.compile(
    r"(?:^|\n)\s*(?:#{1,6} )?(?:(?:[A-ZÀ-ÖØ-Þ][^\W\d_]{2,11}\.? )?\d{1,3}(?:\.\d{1,2})*[.)]|[a-z]\))\s*$"
)
_NOTE_MARK = re.compile(r"(?<=[.!?…\"”’»)\]])(?:\d{1,2}|[¹²³⁰⁴-⁹]{1,3})\s*$")
_OPENING = "\"'“‘«(["
_BULLETS = "-•·‣–—☐☑☒✓✔✗✘"


def continues(before: str, after: str, language: str) -> bool:
    """Return whether `after` continues the sentence that ends with `before`; a splitter has cut between them."""
    sentence = before.rstrip()
    end = sentence[-1:]
    # Only these characters can end a list item's number or a note mark; otherwise, skip looking for either.
    is_number = end == ")" or (end == "." and sentence[-2:-1].isdigit())
    if (is_number and _ITEM_NUMBER.search(before)) or after[:1] in "ºª°":
        return True
    if before.endswith(".") and (after[:1].isalpha() or after[:1].isdecimal()):
        return True
    if end.isdigit():
        before = _NOTE_MARK.sub("", before)
        sentence = before.rstrip()
        end = sentence[-1:]
    if end in ",(" or (end.isalnum() and "\n" not in before[len(sentence) :]):
        # Without an end mark or a line break, the sentence continues.
        return after[:1] not in _BULLETS
    word = _LAST_WORD.search(before)
    return word is not None and after[:1] not in "¿¡" and _is_abbreviation(word[1], before, after, language)


def _is_abbreviation(word: str, before: str, after: str, language: str) -> bool:
    known, following = word.lower(), after.lstrip(_OPENING)[:1]
    if following.isdigit():
        return known in _NOT_AT_ENDS
    if following.islower():
        return known in _NOT_BEFORE_NUMBERS or _DOTTED.search(before) is not None
    if not following.isupper():
        return False
    first = _FIRST_WORD.match(after)
    is_name = first is None or first[0].lower() not in _FUNCTION_WORDS
    if len(word) == 1:
        # "James O. McKinsey"; "D. Maria" and "R. Augusta" in Spanish and Portuguese; "a. C.".
        is_initial = is_name and _NAME_AND_INITIAL.search(before) is not None
        is_title = word in "DR" and language in ("es", "pt")
        return is_initial or is_title or (word.islower() and _INITIAL.match(after) is not None)
    if _UNIT.search(before):
        return False
    if known in _BEFORE_NAMES:
        return is_name or word[0].isupper()
    return known in _BEFORE_WORDS and (_ROMAN.match(after) is not None or (is_name and word[0].isupper()))


LONG = 400  # characters; few sentences are longer, so a longer one is cut: a guess, not measured
SHORT = 0.6  # share of a text's width; a shorter line ends the paragraph: a guess, not measured
FEW_LINES = 3  # lines that a text must have for its width to be computed
NARROW = 30  # characters; where most lines begin with a capital, a shorter one is an item: a guess, not measured
BLOCK = 2000  # characters given to sentencex at once: its time grows faster than the text's length
TAIL = 20  # characters at the end of a text to inspect: the longest abbreviation with the text before it

_BLANK_LINES = re.compile(r"\n[ \t\r\f\v]*\n|\f")
_NUMBER = r"(?P<number>\d{1,3}[.)]\s)|(?P<letter>[a-z])\) "
_ITEM = rf"[{_BULLETS}*+] |{_NUMBER}|\[\d{{1,3}}\] |\d{{1,2}}(?:\.\d{{1,2}}){{1,3}}\.? +[A-ZÀ-ÖØ-Þ]"
_OWN_LINE = re.compile(rf"\n(?=[ \t]*(?:{_ITEM}|[#>|]|```|~~~|:::))")
_ROW = r"(?:[^\W\d_][^\n:.!?]{0,30}:[ \t]\S|[^\s|][^\n]*?(?: \||\t))"
_BETWEEN_ROWS = re.compile(rf"(?m)^(?={_ROW})[^\n]*\n(?={_ROW})")
# A table row in plain text: words, then two figures at the end.
_FIGURE = r"[^\s\w]*\d[\d.,]*%?"
_FIGURE_ROW = re.compile(rf"(?m)^[ \t]*[^\W\d_][^\n]{{0,120}}?[ \t]{_FIGURE}[ \t]+{_FIGURE}[ \t]*(?:\n|\Z)")
_TABLE_ROW = re.compile(r"\s*\|[^\n]*\|\s*")
_LINE = re.compile(r"(?m)^[^\n]*\n")
_AFTER_OWN_LINE = re.compile(r"(?m)^[ \t]*(?:#{1,6} .*|\|.*\|[ \t]*|```.*|~~~.*|:::.*)\n")
_CAPITAL = r"(?=[\"'“‘«(\[¿¡]*[A-ZÀ-ÖØ-Þ])"
# Sentence ends that sentencex misses: before inverted marks, after a note mark, and after "no" and "etc".
_MISSED_ENDS = (
    r"[.!?…][\"'”’»)]*\s+(?=[¿¡])"
    rf"|(?<=[^\W\d_]{{2}})[.!?…][\"'”’»)]*(?:\d{{1,2}}|[¹²³⁰⁴-⁹]{{1,3}})\s+{_CAPITAL}"
    rf"|\b(?:[Nn]o|etc)\.\s+{_CAPITAL}"
)
_MISSED = re.compile(_MISSED_ENDS)
# Occurs in every match of `_MISSED`, and is faster to find because it begins with one class of characters.
_MAY_BE_MISSED = re.compile(r"[.!?…][\"'”’»)]*[\d¹²³⁰⁴-⁹]*\s+[\"'“‘«(\[¿¡A-ZÀ-ÖØ-Þ]")
_FULL_STOP = re.compile(rf"(?<![.!?…])[.!?…]+[\"'”’»)\]]*\s+(?=[\"'“‘«(\[¿¡]*[A-ZÀ-ÖØ-Þ0-9])|{_MISSED_ENDS}|[。！？]+")
_MARKS_OF_NOTES = re.compile(r"(?:\[\d{1,3}\]|[¹²³⁰⁴-⁹]{1,3}|~~)+\s+(?=\S)")
# A line that ends in one of these words, possibly followed by a note mark, continues on the next line.
_UNFINISHED = """
a an as at by for from into of than the their whose with without
ao aos as con contra da das de del desde do dos el em en entre hacia hasta la las los na nas no nos os para pela pelas
pelo pelos por seu sin sobre su sua sus sem um uma un una à às
"""
_RUNS_ON = re.compile(rf"(?:^|\s)(?:{'|'.join(_UNFINISHED.split())})(?:\s+\d{{1,2}})?\s*\Z")
_NUMBER_OF_ITEM = re.compile(r"\s*\d{1,3}(?:\.\d{1,2})*[.)]\s*")
_LETTERED = re.compile(r"[ \t]*[a-z]\) ")
STRUCK = re.compile(r"(?<!~)(?<!\[[xX]\] )(?<![☒☑✓✔] )~~(?=[^\s~])(?:(?!\n\n).){1,2000}?(?<=[^\s~])~~(?!~)", re.DOTALL)
"""Text that was struck out, as Markdown writes it and every reader marks it; behind a ticked box it is only done."""
_FURNITURE = re.compile(r"#{1,6}\s[^\n]*|[-+*_=|:!\s]+|(?:```|~~~|:::)[^\n]*|!?\[\[[^\]\n]*\]\]")


def sentence_spans(text: str, language: str = "") -> list[tuple[int, int]]:
    """Return start and end of each sentence, in order, without outer white space; all other text is covered."""
    spans = []
    for start, end in _paragraphs(text):
        is_row = end - start <= LONG and _TABLE_ROW.fullmatch(text, start, end)
        pieces = [(start, end)] if is_row else _boundaries(text, start, end, language or "en")
        for first, last in _joined(text, pieces, language):
            piece = text[first:last]
            stripped = piece.strip()
            if stripped:
                begin = first + len(piece) - len(piece.lstrip())
                spans.append((begin, begin + len(stripped)))
    return spans


def is_furniture(text: str, start: int, end: int) -> bool:
    """Return whether a span is only a heading, a horizontal rule, a code fence, a footnote's link, or struck out."""
    return _FURNITURE.fullmatch(text, start, end) is not None or ("~~" in text and _is_struck(text, start, end))


def _is_struck(text: str, start: int, end: int) -> bool:
    """Return whether all words of a span are struck out; the tildes may be around more than the span."""
    held = [(max(start, first), min(end, last)) for first, last in _struck_spans(text)]
    edges = [start, *(edge for first, last in held if first < last for edge in (first, last)), end]
    rest = (text[first:last] for first, last in zip(edges[::2], edges[1::2], strict=True))
    return len(edges) > 2 and not any(map(str.isalnum, "".join(rest)))


@lru_cache(maxsize=1)  # Each sentence of a text asks for those of the whole text.
def _struck_spans(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(each.span() for each in STRUCK.finditer(text))


def is_row(text: str, start: int, end: int) -> bool:
    """Return whether a span is a table row: in Markdown, or words with two figures at the end."""
    return any(pattern.fullmatch(text, start, end) for pattern in (_TABLE_ROW, _FIGURE_ROW))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    cuts = {0, len(text)}
    # All cuts depend on line breaks.
    if "\n" in text or "\f" in text:
        ends = (_BLANK_LINES.finditer(text), _AFTER_OWN_LINE.finditer(text), _BETWEEN_ROWS.finditer(text))
        cuts.update(match.end() for match in itertools.chain(*ends))
        cuts.update(_own_lines(text), _short_line_ends(text), _edges_of_figure_rows(text))
    return itertools.pairwise(sorted(cuts))


def _own_lines(text: str) -> Iterator[int]:
    """Yield the offsets at which list items, headings, table rows and code fences begin."""
    lines = list(_OWN_LINE.finditer(text))
    letters = sum(line["letter"] is not None for line in lines) + (_LETTERED.match(text) is not None)
    for line in lines:
        letter, number, before = line["letter"], line["number"], text[max(0, line.start() - LONG) : line.start()]
        is_first_or_one_of_several = letter in (None, "a", "i") or letters > 1
        closes_bracket = (letter or (number and ")" in number)) and before.rfind("(") > before.rfind(")")
        if is_first_or_one_of_several and not closes_bracket and not (number and _runs_on(before)):
            yield line.end()


def _runs_on(text: str) -> bool:
    """Return whether the last word of a text shows that its sentence continues."""
    return _RUNS_ON.search(text[-TAIL:]) is not None


def _edges_of_figure_rows(text: str) -> Iterator[int]:
    """Yield the offsets at which runs of two or more rows of figures begin and end."""
    for row, following in itertools.pairwise(_FIGURE_ROW.finditer(text)):
        if row.end() == following.start():
            yield from (*row.span(), following.end())


def _short_line_ends(text: str) -> Iterator[int]:
    """Yield the ends of short lines before a capital or a number: headings, labels, and items without marks."""
    lines = list(_LINE.finditer(text))
    width = sorted(len(line[0]) for line in lines)[len(lines) * 3 // 4] if len(lines) >= FEW_LINES else 0
    firsts = [text[line.end() : line.end() + 3].removeprefix("~~")[:1] for line in lines]
    # The lines of a narrow column begin with small letters more often than items do.
    is_list = 2 * sum(each.isupper() or each.isdigit() for each in firsts) >= len(lines)
    for line, following in zip(lines, firsts, strict=True):
        is_short = len(line[0]) < SHORT * width
        is_item = is_list and len(line[0]) < NARROW and _FUNCTION_WORDS.isdisjoint(line[0].lower().split()[-1:])
        if not (is_short or is_item) or line[0].rstrip().endswith(",") or _NUMBER_OF_ITEM.fullmatch(line[0]):
            continue
        if (following.isupper() or following.isdigit()) and not _runs_on(text[max(0, line.end() - LONG) : line.end()]):
            yield line.end()


def _boundaries(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    # Replace line breaks inside a paragraph by spaces for sentencex: the offsets stay the same.
    paragraph = text[start:end].replace("\n", " ")
    for first, last in itertools.pairwise(_sentence_cuts(paragraph, language)):
        cut = first
        for match in _inner_ends(paragraph, first, last):
            yield start + cut, start + match.end()
            cut = match.end()
        if cut < last:
            yield start + cut, start + last


def _inner_ends(paragraph: str, first: int, last: int) -> Iterable[re.Match[str]]:
    """Return the ends of sentences within a piece that sentencex doesn't cut."""
    if last - first > LONG:
        return _FULL_STOP.finditer(paragraph, first, last)
    return _MISSED.finditer(paragraph, first, last) if _MAY_BE_MISSED.search(paragraph, first, last) else ()


def _sentence_cuts(paragraph: str, language: str) -> Iterator[int]:
    """Yield the offset at which each sentence begins, and the end of the paragraph.

    For some languages, such as Chinese, `sentencex` takes time quadratic in the number of sentences. So a long
    paragraph is processed in blocks, each from the beginning of the last sentence of the previous one.
    """
    start = reached = 0
    yield 0
    while reached < len(paragraph):
        reached = start + BLOCK
        cuts = [each["end_index"] for each in sentencex.get_sentence_boundaries(language, paragraph[start:reached])]
        yield from (start + cut for cut in cuts[:-1])
        start = start + cuts[-2] if len(cuts) > 1 and reached < len(paragraph) else reached
    yield len(paragraph)


def _joined(text: str, spans: Iterable[tuple[int, int]], language: str) -> list[tuple[int, int]]:
    """Join pieces cut after an abbreviation; note marks and the end of struck text belong to the sentence before."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and continues(text[max(joined[-1][0], start - TAIL) : start], text[start : start + TAIL], language):
            joined[-1] = (joined[-1][0], end)
        elif joined and text[start - 1] != "\n" and (marks := _MARKS_OF_NOTES.match(text, start, end)):
            joined[-1] = (joined[-1][0], marks.end())
            joined.append((marks.end(), end))
        else:
            joined.append((start, end))
    return joined
