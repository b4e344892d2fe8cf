"""Draft questions with answers and documents from a library's passages, for a person to correct.

Rules match single sentences, without a model, so the drafts lack context from previous sentences.
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
from answerable.evaluation.draft_rules import heading_question, questions_of
from answerable.library import Library
from answerable.text.sentences import is_furniture, sentence_spans
from answerable.text.word_lists import LANGUAGES

LONGEST = 400
"""Longer sentences state more than one fact."""
LONGEST_HEADING = 60


@dataclass(frozen=True, slots=True)
class Draft:
    """A question with its verbatim answer; `document` is the source, or the id of a document without one."""

    question: str
    answer: str
    document: str
    type: str
    language: str


def suggest(library: Library, count: int, seed: int = 0) -> list[Draft]:
    """Return at most `count` drafts, from as many documents and of as many types as possible.

    Documents are read in random order until there are enough drafts.
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
    """Yield the drafts of a document, each question once."""
    if document.language not in LANGUAGES:
        return
    seen: set[str] = set()
    for draft in (*_from_sentences(document), *_from_headings(document)):
        if draft.question.casefold() not in seen and _is_listable(draft):
            seen.add(draft.question.casefold())
            yield draft


def write_drafts(drafts: Sequence[Draft], path: Path) -> None:
    """Write a question list for `question_lists`: JSON lines for `.jsonl`, otherwise CSV for spreadsheets.

    Raises SettingsError if the file exists, because it may contain corrections.
    """
    rows = [asdict(draft) for draft in drafts]
    try:
        # Without the byte order mark, Excel does not recognise UTF-8.
        with path.open("x", encoding="utf-8" if path.suffix == ".jsonl" else "utf-8-sig", newline="") as file:
            if path.suffix == ".jsonl":
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            else:
                writer = csv.DictWriter(file, list(Draft.__slots__))
                writer.writeheader()
                writer.writerows(rows)
    except FileExistsError as error:
        raise SettingsError(f"{path} already exists. Give another name.") from error


def _varied(found: Sequence[list[Draft]], count: int) -> list[Draft]:
    """Choose drafts from each document in turn, always of the type that is rarest among those chosen."""
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
    for start, end in sentence_spans(document.content, document.language):
        sentence = document.content[start:end]
        if end - start > LONGEST or is_furniture(document.content, start, end):
            continue
        # Line breaks become spaces, so that the offsets stay the same.
        for asking in questions_of(sentence.replace("\n", " "), document.language):
            answer = sentence[asking.start : asking.end]
            yield _draft(document, asking.question, answer, asking.type)


def _from_headings(document: Document) -> Iterator[Draft]:
    """Yield a question about each section; the answer is the section's first sentence."""
    for part in document.parts if document.title else ():
        if part.kind is not PartKind.SECTION or len(part.headings) < 2 or len(part.headings[-1]) > LONGEST_HEADING:
            continue
        text = document.content[part.start : part.end]
        spans = (span for span in sentence_spans(text, document.language) if not is_furniture(text, *span))
        start, end = next(spans, (0, 0))
        question = heading_question(document.language, document.title, part.headings[-1])
        if 0 < end - start <= LONGEST:
            yield _draft(document, question, text[start:end], "heading")


def _draft(document: Document, question: str, answer: str, kind: str) -> Draft:
    named = document.source if document.source and "|" not in document.source else document.id
    return Draft(" ".join(question.split()), " ".join(answer.split()), named, kind, document.language)


def _is_listable(draft: Draft) -> bool:
    """Return whether a draft fits in a cell: no `|`, and nothing that a spreadsheet takes for a formula."""
    return "|" not in draft.answer and not any(text[:1] in "=+-@" for text in (draft.answer, draft.document))
