"""A library's own passages → draft questions with their answers and documents, for a person to correct.

Rules over single sentences, no model: what a sentence leaves to those before it is missing from its question too.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from answerable.datatypes import Document, PartKind
from answerable.errors import SettingsError
from answerable.evaluation.draft_rules import HEADING_QUESTIONS, questions_of
from answerable.library import Library
from answerable.text.sentences import is_furniture, sentence_spans

LONGEST = 400
"""Longer sentences say more than one thing."""
LONGEST_HEADING = 60


@dataclass(frozen=True, slots=True)
class Draft:
    """A question with the answer as it stands in the document; `document` is its source, or its id without one."""

    question: str
    answer: str
    document: str
    type: str
    language: str


def suggest(library: Library, count: int, seed: int = 0) -> list[Draft]:
    """At most so many drafts, of as many documents and of as many types as there are; fewer where the rules find less.

    Documents are read in a random order, no more of them than it takes.
    """
    found: list[list[Draft]] = []
    documents = library.documents()
    Random(seed).shuffle(documents)
    for stored in documents:
        if len(found) == count:
            break
        drafts = list(drafts_of(library.document(stored.id)))
        if drafts:
            Random(f"{seed} {stored.id}").shuffle(drafts)
            found.append(drafts)
    return _varied(found, count)


def drafts_of(document: Document) -> Iterator[Draft]:
    """The drafts that a document gives, each question once."""
    seen: set[str] = set()
    for draft in (*_from_sentences(document), *_from_headings(document)):
        if draft.question.casefold() not in seen and _is_listable(draft):
            seen.add(draft.question.casefold())
            yield draft


def write_drafts(drafts: Sequence[Draft], path: Path) -> None:
    """Writes a list that `question_lists` reads: JSON lines for `.jsonl`, else CSV that spreadsheets open.

    Raises SettingsError where the file is there already: it may hold what somebody corrected.
    """
    rows = [asdict(draft) for draft in drafts]
    try:
        # Without the mark Excel takes UTF-8 for an older encoding.
        with path.open("x", encoding="utf-8" if path.suffix == ".jsonl" else "utf-8-sig", newline="") as file:
            if path.suffix == ".jsonl":
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            else:
                writer = csv.DictWriter(file, list(Draft.__slots__))
                writer.writeheader()
                writer.writerows(rows)
    except FileExistsError as error:
        raise SettingsError(f"{path} is there already and is left as it is. Give another name.") from error


def _varied(found: Sequence[list[Draft]], count: int) -> list[Draft]:
    """From each document in turn the draft of the type that there is least of so far."""
    chosen: list[Draft] = []
    types: Counter[str] = Counter()
    while len(chosen) < count and any(found):
        for drafts in found:
            if drafts and len(chosen) < count:
                best = min(drafts, key=lambda draft: types[draft.type])
                drafts.remove(best)
                types[best.type] += 1
                chosen.append(best)
    return chosen


def _from_sentences(document: Document) -> Iterator[Draft]:
    if document.language not in HEADING_QUESTIONS:
        return
    for start, end in sentence_spans(document.content, document.language):
        sentence = document.content[start:end]
        if end - start > LONGEST or is_furniture(document.content, start, end):
            continue
        # Line ends become spaces, one for one, so that the offsets stay.
        for asking in questions_of(sentence.replace("\n", " "), document.language):
            answer = sentence[asking.start : asking.end]
            yield _draft(document, asking.question, answer, asking.type)


def _from_headings(document: Document) -> Iterator[Draft]:
    """What the sections say, by their headings; the answer is the first sentence under each."""
    pattern = HEADING_QUESTIONS.get(document.language)
    for part in document.parts if pattern and document.title else ():
        if part.kind is not PartKind.SECTION or len(part.headings) < 2 or len(part.headings[-1]) > LONGEST_HEADING:
            continue
        text = document.content[part.start : part.end]
        spans = (span for span in sentence_spans(text, document.language) if not is_furniture(text, *span))
        start, end = next(spans, (0, 0))
        if pattern and 0 < end - start <= LONGEST:
            question = pattern.format(title=document.title, heading=part.headings[-1])
            yield _draft(document, question, text[start:end], "heading")


def _draft(document: Document, question: str, answer: str, kind: str) -> Draft:
    named = document.source if document.source and "|" not in document.source else document.id
    return Draft(" ".join(question.split()), " ".join(answer.split()), named, kind, document.language)


def _is_listable(draft: Draft) -> bool:
    """Whether it fits a cell: without the mark between answers, and with nothing that a spreadsheet would calculate."""
    return "|" not in draft.answer and not any(text[:1] in "=+-@" for text in (draft.answer, draft.document))
