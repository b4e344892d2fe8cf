"""Choose the sentences to quote, expand each by what belongs to it, and build an answer from them.

A quote is expanded by the list, code, table or address that it introduces, or by its reason. A quoted list item is
expanded to the whole list if the question asks for several things. Long expansions are cut after a list item.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from itertools import islice

from answerable.answering.citations import cite
from answerable.answering.decide import answered, refuse
from answerable.answering.differences import Difference
from answerable.answering.found import Found
from answerable.answering.messages import LACKS, MORE, NEAREST, QUOTING, SAYS, phrase, word_lists
from answerable.answering.reading import is_quotation, replied
from answerable.answering.sentences import Sentence, is_header, shown_row
from answerable.datatypes import Answer, Citation, DocumentType, Reason, Step
from answerable.formats.locate import without_marks
from answerable.retrieval.times import fold_in_place, relative_times
from answerable.text.indexed_text import says_the_same_anywhere
from answerable.text.sentences import sentence_spans
from answerable.text.terms import fold

MARGIN = 0.45
"""How much lower than the best quote's the support of a further quote may be. Measured in docs/quality.md."""
OWN_MARGIN = 0.75
"""As MARGIN, but for a sentence that adds words of the question (see `_adds`). Measured in docs/quality.md."""
OWN_COVERAGE = 0.5
"""The share of the question's words with which a sentence may use OWN_MARGIN. Measured with OWN_MARGIN."""
NEW_COVERAGE = 0.1
"""The share of the question's word weights that new words must have for OWN_MARGIN. A round number, not measured."""
MOST_DIFFERENCES = 2
"""Differences that are told of the nearest quote. A guess, not measured."""
SURE = 0.0
"""Show the answering span if its reading, a logit, is above this: then it is more likely than not to answer."""

_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence to quote, its citation, which may be a longer span, and how many items of its list are left out."""

    sentence: Sentence
    citation: Citation
    left_out: int = 0


def quote(found: Found, ranked: Sequence[Sentence], confidence: float, most: int) -> Answer:
    """Return the answer that quotes the best of the ranked sentences; a refusal if none can be cited."""
    quotes, left_out = choose(found, ranked, most)
    why = _why(ranked, quotes, left_out)
    if not quotes:
        return replace(refuse(found, Reason.NOTHING_FOUND), why=(why,))
    # Two libraries may say much the same: if the quotes are from several libraries, name the library of each.
    several = len({each.citation.library for each in quotes}) > 1
    asked = found.asked
    more = phrase(MORE, asked.language)
    lines = (
        (f"{each.citation.library}: " if several else "")
        + f"{_line(each)}{more.format(each.left_out) if each.left_out else ''} [{number}]"
        for number, each in enumerate(quotes, 1)
    )
    text, cited = "\n".join((phrase(QUOTING, asked.language), *lines)), tuple(each.citation for each in quotes)
    return answered(found, text, cited, confidence, why)


def quote_nearest(found: Found, ranked: Sequence[Sentence], confidence: float, differs: Sequence[Difference]) -> Answer:
    """Return the answer that nothing says it, with the nearest of the ranked sentences and how it differs."""
    quotes, left_out = choose(found, ranked, 1)
    if not quotes:
        return refuse(found, Reason.NOTHING_FOUND)
    language = found.asked.language
    lines = [f"{phrase(NEAREST, language)}\n{_line(quotes[0])} [1]"]
    for each in differs[:MOST_DIFFERENCES]:
        says = ", ".join(f"“{name}”" for name in each.says)
        lines.append(phrase(SAYS if says else LACKS, language).format(asked=f"“{each.asked}”", says=says))
    near = refuse(found, Reason.NEAR, confidence)
    why = (_why(ranked, quotes, left_out),)
    return replace(near, text="\n".join(lines), citations=(quotes[0].citation,), why=why)


def choose(found: Found, ranked: Sequence[Sentence], most: int) -> tuple[list[Quote], Counter[str]]:
    """Return the sentences to quote, and for each reason how many other sentences are left out."""
    quotes: list[Quote] = []
    kept: list[Sentence] = []
    left_out: Counter[str] = Counter()
    has_others = any(not is_header(sentence) for sentence in ranked)
    for number, sentence in enumerate(map(replied, ranked)):
        if len(kept) == most:
            left_out["more than asked for"] = len(ranked) - number
            break
        margin = OWN_MARGIN if _adds(sentence, kept, found.word_weights) else MARGIN
        if kept and ranked[0].support - sentence.support > margin:
            left_out["beyond the margin"] += 1
        elif has_others and is_header(sentence):
            left_out["column names"] += 1
        else:
            span = expanded(sentence, found.asked.question) or Expansion(sentence.start, sentence.end)
            quoted = replace(sentence, start=span.start, end=span.end)
            citation = cite(sentence.result, span.start, span.end)
            if any(_repeats(quoted, other) for other in kept):
                left_out["repeated"] += 1
            elif citation is None:
                left_out["not in its document"] += 1
            else:
                kept.append(quoted)
                is_sure = sentence.reading is not None and sentence.reading > SURE
                answer = sentence.answer if is_sure else None
                quotes.append(Quote(sentence, replace(citation, answer=answer), span.left_out))
    return quotes, left_out


def _why(ranked: Sequence[Sentence], quotes: Sequence[Quote], left_out: Mapping[str, int]) -> Step:
    """Return the step that shows how many sentences are quoted, and how far behind the best the last and next are."""
    values: dict[str, float] = {"margin": MARGIN, "margin for words of its own": OWN_MARGIN}
    if quotes:
        best, last = ranked[0].support, quotes[-1].sentence
        values["last behind the best"] = best - last.support
        after = (each for each in ranked if each.support < last.support)
        if following := next(after, None):
            values["next behind the best"] = best - following.support
    return Step.of("quote", {"sentences": len(ranked)}, {"quotes": len(quotes), **left_out}, values)


def _adds(sentence: Sentence, kept: Sequence[Sentence], weights: Mapping[frozenset[str], float]) -> bool:
    """Return whether a sentence has half of the question's words, or one that no earlier quote has.

    Such a sentence needs less support: a question about lettuce and basil needs a quote for each. On XQuAD en and es,
    FaQuAD and SQuAD2 en, es and pt, this rule finds as many gold answers as a single margin of .6 for all sentences,
    with 2.36 quotes per answer instead of 2.57.
    """
    new = sum(
        weight
        for word, weight in weights.items()
        if not word.isdisjoint(sentence.terms) and all(word.isdisjoint(other.terms) for other in kept)
    )
    return sentence.coverage >= OWN_COVERAGE or new >= NEW_COVERAGE * sum(weights.values())


def _repeats(sentence: Sentence, other: Sentence) -> bool:
    overlaps = sentence.start < other.end and other.start < sentence.end
    if overlaps and sentence.result.document.id == other.result.document.id:
        return True
    short, long = sorted((" ".join(text.split()).casefold() for text in (sentence.text, other.text)), key=len)
    return short in long and (says_the_same_anywhere(short) or _heading(sentence) == _heading(other))


def _heading(sentence: Sentence) -> tuple[str, tuple[str, ...]]:
    """Return the document and headings of a short line: "thirty days" in two contracts isn't a repetition."""
    return sentence.result.document.title, sentence.result.chunk.location.headings


def _line(quote: Quote) -> str:
    """Return the quote as it is shown: on one line, except lists; a table row has its column names.

    Markdown syntax is left out. The quote of a chat message begins with sender and time.
    """
    sentence, citation = quote.sentence, quote.citation
    document = sentence.result.document
    if (citation.start, citation.end) != (sentence.start, sentence.end):
        lines = (line.rstrip() for line in without_marks(document, citation.start, citation.end).split("\n"))
        return "“{}”".format("\n".join(line for line in lines if line.strip() and not line.strip().startswith(_FENCES)))
    if row := shown_row(sentence):
        return row
    text = " ".join(without_marks(document, sentence.start, sentence.end).split())
    message = sentence.message
    if message is None or is_quotation(document.content, message, sentence.start):
        return f"“{text}”"
    when = f" ({message.time:%Y-%m-%d %H:%M})" if message.time else ""
    dates = ", ".join(_dates(text, message.time, document.language)) if message.time else ""
    return f"{message.sender}{when}: “{text}”{f' ({dates})' if dates else ''}"


def _dates(text: str, sent: datetime, language: str) -> Iterator[str]:
    """Yield the dates of "yesterday" and the like in a message, counted from when it was sent."""
    for time in relative_times(fold_in_place(text), sent, language):
        (start, end), last = time.periods[0], time.periods[0][1] - timedelta(days=1)
        if start.date() == sent.date():
            continue
        days = f"{start:%Y-%m-%d}" if end - start <= timedelta(days=1) else f"{start:%Y-%m-%d} – {last:%Y-%m-%d}"
        yield f"{text[time.start : time.end]}: {days}"


MOST_ITEMS = 25
"""List items in a quote, more than anybody reads in an answer. A round number, not measured."""
LONGEST = 1_500
"""Characters of an expanded quote: about a screen. A round number, not measured."""
LONGEST_PARAGRAPH = 300
"""Characters of a paragraph that may be added to the quote that introduces it. A round number, not measured."""
LONGEST_ADDRESS = 60
"""Characters of a line of an address. A round number, not measured."""
LINES_OF_ADDRESS = 5
"""Lines of an address: name, street, town, country and one more."""
LINES_TO_CODE = 4
"""Maximum number of lines between a sentence and its code. A round number, not measured."""
REACH = 20_000
"""Characters before and after the quote in which its list is looked for."""

_ITEM = re.compile(r"[ \t]*(?:[-*+•·‣–—]|\d{1,3}[.)]|[a-z][.)]|\[[ xX]\])[ \t]+\S")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_COMMAND = re.compile(r"(?: {4}|\t)[ \t]*\S|[ \t]*[$>] \S")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_NEVER_EXPANDED = (DocumentType.CHAT, DocumentType.RECORDS, DocumentType.SPREADSHEET, DocumentType.CODE)
_LEADS = (":", ":**", ":*", ":_", "：")


@dataclass(frozen=True, slots=True)
class Expansion:
    """The span of an expanded quote in its document, and how many items of its list had to be left out."""

    start: int
    end: int
    left_out: int = 0


def expanded(sentence: Sentence, question: str) -> Expansion | None:
    """Return the expanded quote, or None if it stays as it is."""
    document = sentence.result.document
    if document.type in _NEVER_EXPANDED:
        return None
    content = document.content
    lines = _Lines(content, sentence)
    text = sentence.text.rstrip()
    if text.endswith(_LEADS):
        return lines.block_below()
    folded = fold(question.lower())
    if _pattern("several").search(folded) and _ITEM.match(lines.line_of(sentence.start)):
        return lines.whole_list()
    if _pattern("how_to").search(folded) and (code := lines.code_below()):
        return code
    if _pattern("where").search(folded) and (address := lines.address_below()):
        return address
    return _with_reason(content, sentence, document.language) if _pattern("why").search(folded) else None


class _Lines:
    """The lines around a quote, each with its offset in the document."""

    def __init__(self, content: str, sentence: Sentence) -> None:
        self._content = content
        self._sentence = sentence

    def line_of(self, place: int) -> str:
        """Return the line at this offset."""
        start = self._content.rfind("\n", 0, place) + 1
        return self._content[start:].partition("\n")[0] if start < len(self._content) else ""

    def _below(self, place: int) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and text of each line after the line at this offset."""
        end = self._content.find("\n", place)
        limit = min(len(self._content), place + REACH)
        while 0 <= end < limit:
            start = end + 1
            end = self._content.find("\n", start)
            stop = len(self._content) if end < 0 else end
            yield start, stop, self._content[start:stop]

    def block_below(self) -> Expansion | None:
        """Return the quote with the list, code, table or paragraph that it introduces."""
        sentence = self._sentence
        rest = self._content[sentence.end :].partition("\n")[0].strip()
        if rest:
            return None
        first = next(((start, text) for start, _, text in self._below(sentence.end) if text.strip()), None)
        if first is None or self._content.count("\n", sentence.end, first[0]) > 3:
            return None
        start, text = first
        if _ITEM.match(text):
            return self._list_from(start, sentence.start)
        if _FENCE.match(text) or _COMMAND.match(text):
            return self._code_from(start, text)
        if _ROW.match(text):
            return self._table_from(start)
        end = self._content.find("\n\n", start)
        end = len(self._content.rstrip()) if end < 0 else end
        return Expansion(sentence.start, end) if start < end <= start + LONGEST_PARAGRAPH else None

    def whole_list(self) -> Expansion | None:
        """Return the list that the quote is an item of, with the line that introduces it."""
        first = self._content.rfind("\n", 0, self._sentence.start) + 1
        start = first
        while start > 0 and self._sentence.start - start < REACH:
            above = self._content.rfind("\n", 0, start - 1) + 1
            line = self._content[above : start - 1]
            if _ITEM.match(line) or (line[:1] in " \t" and line.strip()):
                start = first = above
            elif not line.strip():
                start = above
            else:
                start = above if line.rstrip().endswith(_LEADS) else first
                break
        else:
            start = first
        found = self._list_from(first, start)
        return found if found.end > found.start and self._sentence.start < found.end else None

    def _list_from(self, first: int, start: int) -> Expansion:
        """Return a quote that begins at `start` and has the list items from offset `first` on."""
        end, items, left_out = first, 0, 0
        for begin, stop, line in self._below(first - 1):
            is_item = bool(_ITEM.match(line))
            if not line.strip():
                continue
            is_apart = self._content.count("\n", end, begin) > 1 or not line[:1].islower()
            if not is_item and not (items and line[:1] in " \t") and (items == 0 or is_apart):
                break
            items += is_item
            if left_out or items > MOST_ITEMS or stop - start > LONGEST:
                left_out += is_item
            else:
                end = stop
        end = min(end, len(self._content))
        return Expansion(start, start + len(self._content[start:end].rstrip()), left_out)

    def code_below(self) -> Expansion | None:
        """Return the quote with the block of code below it if at most one line of text is between them."""
        between = 0
        for start, _, line in islice(self._below(self._sentence.end), LINES_TO_CODE):
            if _FENCE.match(line) or _COMMAND.match(line):
                return self._code_from(start, line)
            between += bool(line.strip())
            if between > 1 or line.lstrip().startswith("#"):
                return None
        return None

    def address_below(self) -> Expansion | None:
        """Return the quote with the short lines that follow it in its paragraph, and the line that introduces it."""
        start, end = self._sentence.start, self._sentence.end
        above = self._content.rfind("\n", 0, max(start - 1, 0)) + 1
        start = above if self._content[above:start].rstrip().endswith(_LEADS) else start
        for begin, stop, line in islice(self._below(end), LINES_OF_ADDRESS):
            if not line.strip() or len(line) > LONGEST_ADDRESS or self._content[end:begin].strip():
                break
            end = stop
        return Expansion(start, end) if end > self._sentence.end else None

    def _code_from(self, first: int, opening: str) -> Expansion | None:
        fence = _FENCE.match(opening)
        end = 0
        for begin, stop, line in self._below(first - 1):
            if stop - self._sentence.start > LONGEST:
                return None
            if fence and begin > first and line.strip().startswith(fence[1]):
                return Expansion(self._sentence.start, stop)
            if not fence and line.strip() and not _COMMAND.match(line):
                break
            end = stop if line.strip() else end
        return Expansion(self._sentence.start, end) if end and not fence else None

    def _table_from(self, first: int) -> Expansion | None:
        end, rows, left_out = first, 0, 0
        for _, stop, line in self._below(first - 1):
            if not _ROW.match(line):
                break
            rows += 1
            if left_out or rows > MOST_ITEMS + 2 or stop - self._sentence.start > LONGEST:
                left_out += not _RULE.fullmatch(line)
            else:
                end = stop
        return Expansion(self._sentence.start, end, left_out) if rows > 1 else None


def _with_reason(content: str, sentence: Sentence, language: str) -> Expansion | None:
    """Return a quote with the next sentence if that gives the reason; for a reason, with the sentence before."""
    if _begins_as_reason(sentence.text):
        start = max(content.rfind("\n\n", 0, sentence.start) + 1, sentence.start - LONGEST_PARAGRAPH)
        before = sentence_spans(content[start : sentence.start], language)
        return Expansion(start + before[-1][0], sentence.end) if before else None
    below = content[sentence.end : sentence.end + LONGEST_PARAGRAPH].partition("\n\n")[0]
    after = sentence_spans(below, language)
    if after and _begins_as_reason(below[after[0][0] :]):
        return Expansion(sentence.start, sentence.end + after[0][1])
    return None


def _begins_as_reason(text: str) -> bool:
    return _pattern("reason").match(fold(text[:40].lower())) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{word_lists('span_expansion')[name]})", re.VERBOSE)
