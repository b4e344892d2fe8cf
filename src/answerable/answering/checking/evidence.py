"""Look up what a model quotes: the whole sentence, table row or chat line of a passage, with its citations.

A quote is found if white space, quotation marks, dashes, case or mark-up differ, but not if a digit, an accent or a
word does. Evidence is the source's own text, extended to the whole sentence: a clipped quote can't hide a "not".
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from answerable.answering.citations import cite
from answerable.answering.found import ComputedPassage
from answerable.datatypes import Citation, DocumentType, PartKind, RetrievalResult, Span
from answerable.text.characters import is_hidden
from answerable.text.claims import Kind, find_claims
from answerable.text.sentences import is_furniture, sentence_spans
from answerable.text.terms import terms

REACH = 1000
"""Characters of the document on each side of a passage in which its first and last sentence may go on. A guess, not
measured."""
LONGEST = 600
"""Characters of a chat message or record that is evidence as a whole; of a longer one its sentences are. A guess, not
measured."""
SHORTEST = 8
"""Characters of a quote; a shorter one may occur anywhere by chance, so it must be a whole sentence. A guess, not
measured."""
TRIES = 50
"""Places that are tried for a part of a quote, which bounds the time. A guess, not measured."""

_QUOTES = dict.fromkeys("\"'‘’‚‛“”„‟«»‹›`´′″＂＇", "'")
_DASHES = dict.fromkeys("-‐‑‒–—―−﹘﹣－", "-")
_TOKEN = re.compile(
    r"(?P<dropped>(?<=[^\W\d_])[-‐‑\u00ad\ufffe](?:\s*\n\s*)?(?=[^\W\d_])|[*_#`\\]+)|(?P<blank>[\s|]+)|.", re.DOTALL
)
_CELLS = re.compile(r"[,;·\t]|\s[-–]\s")
_LEFT_OUT = re.compile(r"\s*(?:[\[(]\s?(?:…|\.{3})\s?[\])]|…|(?<!\.)\.{3}(?!\.))\s*")
_START, _END = re.compile(r"(?:[\s'|.,;:]|[-•+]\s)+(?!\d)|[\s'|]+"), re.compile(r"[\s'|.,;:]+$")
_ROWS = frozenset({DocumentType.SPREADSHEET, DocumentType.RECORDS})


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whole sentences, rows or chat messages of one passage, with their citations.

    `text` is verbatim, except that " … " is written between two sentences that aren't neighbours. `start` and
    `end` are offsets in the document: the first sentence's start and the last one's end. What the model hasn't named
    is the source sentence with most of the same words.
    """

    text: str
    passage: RetrievalResult
    start: int
    end: int
    citations: tuple[Citation, ...]
    is_named: bool = True


def look_up(text: str, passages: Sequence[RetrievalResult], computed: Mapping[str, ComputedPassage]) -> Evidence | None:
    """Return the evidence that a quote names, from the first passage that has it; None if none has.

    "…" and line breaks join parts of one passage, in order. `computed` maps document ids to computed passages.
    """
    whole = text.strip()
    lines = whole.splitlines()
    ways: list[tuple[list[str], bool]] = [([whole], False)]
    for parts in (_LEFT_OUT.split(whole), [part for line in lines for part in _LEFT_OUT.split(line)]):
        ways += [(kept, False)] if (kept := [part for part in parts if _wanted(part)]) != ways[-1][0] else []
    ways.append(([line for line in lines if _wanted(line)], True))
    for passage in passages:
        for parts, by_cells in ways:
            spans = _find(parts, passage, by_cells)
            if (units := _extended(passage, spans)) and (found := _evidence(passage, units, computed)):
                return found
    return None


def nearest(
    sentence: str, passages: Sequence[RetrievalResult], computed: Mapping[str, ComputedPassage], language: str
) -> Evidence | None:
    """Return the source sentence that shares most with a sentence, by words (rare ones weigh more) and values."""
    spoken = [passage.document.language or language for passage in passages]
    own = {each: _compared(sentence, each) | _compared(sentence, language) for each in spoken}
    shared: list[tuple[frozenset[str], RetrievalResult, Span]] = []
    frequency: Counter[str] = Counter()
    for passage, each in zip(passages, spoken, strict=True):
        content, low = _content(passage)
        for outer, inner in _units(passage):
            compared = _compared(content[outer[0] - low : outer[1] - low], each)
            frequency.update(compared)
            shared.append((own[each] & compared, passage, inner))
    # The inverse document frequency, with sentences as documents.
    scores = [sum(math.log(1 + len(shared) / frequency[term]) for term in each) for each, _, _ in shared]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    if best is None or not scores[best]:
        return None
    return _evidence(shared[best][1], [shared[best][2]], computed, is_named=False)


def _evidence(
    passage: RetrievalResult, units: Sequence[Span], computed: Mapping[str, ComputedPassage], is_named: bool = True
) -> Evidence | None:
    content, low = _content(passage)
    runs: list[Span] = []
    for start, end in units:
        if runs and not content[runs[-1][1] - low : start - low].strip():
            runs[-1] = runs[-1][0], end
        else:
            runs.append((start, end))
    citations: list[Citation] = []
    for start, end in runs:
        # A citation must touch its passage; a sentence beyond it was never shown to the model.
        cited = cite(passage, start, end)
        if cited is None:
            return None
        made = computed.get(passage.document.id)
        citations += made.sources(cited) if made else (cited,)
    text = " … ".join(content[start - low : end - low] for start, end in runs)
    return Evidence(text, passage, runs[0][0], runs[-1][1], tuple(dict.fromkeys(citations)), is_named)


def _content(passage: RetrievalResult) -> tuple[str, int]:
    """Return the text in which quotes of a passage are looked up, and its offset in the document.

    A document that isn't loaded around its passage gives the passage alone.
    """
    chunk, content = passage.chunk, passage.document.content
    if content[chunk.start : chunk.end] != chunk.content:
        return chunk.content, chunk.start
    if any(part.kind in (PartKind.MESSAGE, PartKind.RECORD) for part in chunk.parts):
        first = min(chunk.start, *(part.start for part in chunk.parts))
        last = max(chunk.end, *(part.end for part in chunk.parts))
    else:
        first, last = max(chunk.start - REACH, 0), chunk.end + REACH
    return content[first:last], first


def _units(passage: RetrievalResult, with_headings: bool = False) -> list[tuple[Span, Span]]:
    """Return the sentences (and headings), rows or messages that touch a passage, as offsets in the document, in order.

    Each is a pair: the span in which a quote may lie (a message with its sender), and the span that is evidence.
    """
    content, low = _content(passage)
    chunk, language = passage.chunk, passage.document.language
    blocks = [part for part in chunk.parts if part.kind in (PartKind.MESSAGE, PartKind.RECORD)]
    if not blocks:
        spans = [(low + start, low + end) for start, end in _sentences(content, language)]
        sentences = [span for span in spans if not is_furniture(content, span[0] - low, span[1] - low)]
        kept = spans if with_headings else sentences or spans
        return [(span, span) for span in kept if span[0] < chunk.end and span[1] > chunk.start]
    found: list[tuple[Span, Span]] = []
    for part in blocks:
        first, last = part.start if part.body is None else part.body, part.end
        body = content[first - low : last - low]
        if not body.strip():
            continue
        whole = (len(body) - len(body.lstrip()), len(body.rstrip()))
        inner = [whole] if len(body) <= LONGEST else _sentences(body, language)
        spans = [(first + start, first + end) for start, end in inner]
        outer = (part.start, spans[0][1]), *spans[1:]
        found += zip(outer, spans, strict=True)
    return found


def _extended(passage: RetrievalResult, spans: Sequence[Span]) -> list[Span]:
    """Return the units that spans touch; nothing if a short span isn't a whole unit."""
    content, low = _content(passage)
    found: list[Span] = []
    for start, end in spans:
        touched = [
            (outer, inner) for outer, inner in _units(passage, True) if outer[0] < low + end and outer[1] > low + start
        ]
        if not touched:
            return []
        inner = content[touched[0][1][0] - low : touched[-1][1][1] - low]
        if end - start < SHORTEST and _wanted(inner) != _wanted(content[start:end]):
            return []
        found += [unit for _, unit in touched if unit not in found]
    return found


def _find(parts: Sequence[str], passage: RetrievalResult, by_cells: bool) -> list[Span]:
    """Return the spans of the parts of a quote, in order, as offsets in the passage's text; [] if one is missing.

    `by_cells` reads commas, semicolons and tabs as borders of cells, and finds rows of tables only.
    """
    content, _ = _content(passage)
    source, origin = (_CELLS.sub(lambda found: "|".ljust(len(found[0])), content) if by_cells else content), 0
    spans: list[Span] = []
    folded, starts, ends = _fold(source)
    for part in parts:
        wanted = _wanted(_CELLS.sub("|", part) if by_cells else part)
        place = _place(folded, wanted, origin)
        if place < 0:
            return []
        spans.append((starts[place], ends[place + len(wanted) - 1]))
        origin = place + len(wanted)
    if by_cells and not all(_is_row(content, span, passage) for span in spans):
        return []
    return spans


def _is_row(content: str, span: Span, passage: RetrievalResult) -> bool:
    line = content[content.rfind("\n", 0, span[0]) + 1 :].partition("\n")[0]
    return span[1] <= content.rfind("\n", 0, span[0]) + 1 + len(line) and (
        "|" in line or "\t" in line or passage.document.type in _ROWS
    )


def _place(folded: str, wanted: str, origin: int) -> int:
    """Return where a folded quote begins in a folded text, between words and numbers; -1 if nowhere."""
    place = origin - 1
    for _ in range(TRIES):
        place = folded.find(wanted, place + 1) if wanted else -1
        if place < 0:
            break
        end = place + len(wanted)
        if not _is_within(folded[max(place - 2, 0) : place], wanted[:2]) and not _is_within(
            wanted[-2:], folded[end : end + 2]
        ):
            return place
    return -1


def _is_within(before: str, after: str) -> bool:
    """Return whether the boundary between two strings is inside a word or number."""
    left, right = before[-1:], after[:1]
    if unicodedata.combining(right or " ") or (left.isalnum() and right.isalnum() and max(left, right) < "\u0e00"):
        # Scripts of higher code points don't separate words by spaces.
        return True
    if left.isdigit():
        return right != "" and right in ".,:/" and after[1:].isdigit()
    # "5" isn't in "1.5" or "-5", but it is in "3-5".
    return right.isdigit() and re.fullmatch(r"\d[.,:/]|\s?-", before) is not None


_sentences = lru_cache(maxsize=256)(sentence_spans)


@lru_cache(maxsize=256)
def _fold(text: str) -> tuple[str, list[int], list[int]]:
    """Return the folded text and, for each character of it, its start and its end in the text."""
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(text):
        piece = " " if match["blank"] else "" if match["dropped"] else _folded(match[0])
        if piece == " " and folded[-1:] == [" "]:
            continue
        for character in piece:
            folded.append(character)
            starts.append(match.start())
            ends.append(match.end())
    return "".join(folded), starts, ends


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    """Return the compared form of a character, "" if it is mark-up or invisible. Accents stay."""
    if character in _QUOTES or character in _DASHES:
        return _QUOTES.get(character) or _DASHES[character]
    if is_hidden(character):
        return ""
    if not character.isdecimal() and unicodedata.numeric(character, None) is not None:
        # "10²" isn't "102".
        return character
    return unicodedata.normalize("NFKD", character).casefold()


def _wanted(part: str) -> str:
    """Return a folded quote without bullets, marks around it and the final stop."""
    folded = _fold(part)[0]
    start = _START.match(folded)
    return _END.sub("", folded[start.end() if start else 0 :])


@lru_cache(maxsize=4096)
def _compared(text: str, language: str) -> frozenset[str]:
    values = (claim.values for claim in find_claims(text, language) if claim.kind is not Kind.NAME)
    return frozenset(terms(text, language)).union(*values)
