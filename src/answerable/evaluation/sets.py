"""Questions with their expected results, and sets of them in BEIR's layout (Thakur et al. 2021)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.text.languages import question_language


@dataclass(frozen=True, slots=True)
class Query:
    """A question, its relevant documents with grades, and its answers if the set has answers.

    An unanswerable question has the document that it was written about, with grade 0.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    relevant: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Documents, the questions that they answer, and unanswerable questions."""

    name: str
    documents: list[Document]
    queries: list[Query]
    unanswerable: list[Query]

    @classmethod
    def load(cls, folder: Path, name: str = "") -> QuestionSet:
        """Load a set; leave out empty documents and their questions. Raises SourceError."""
        try:
            documents = [
                Document.from_text(str(row["text"]), doc_id=str(row["_id"]), title=str(row.get("title") or ""))
                for row in _rows(folder / "corpus.jsonl")
                if str(row["text"]).strip()
            ]
            held = {document.id for document in documents}
            relevant = _relevant(folder / "qrels" / "test.tsv", held)
            queries, unanswerable = [], []
            for row in _rows(folder / "queries.jsonl"):
                found = relevant.get(str(row["_id"]), {})
                near = found or {str(row.get("paragraph") or ""): 0}
                query = Query(str(row["_id"]), str(row["text"]), tuple(row.get("answers") or ()), near)
                if found:
                    queries.append(query)
                elif row.get("answerable") is False:
                    unanswerable.append(query)
        except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
            raise SourceError(
                f"{folder} is not a question set in BEIR's layout ({error!r}). It needs corpus.jsonl (_id, title, "
                "text), queries.jsonl (_id, text) and qrels/test.tsv (query, document, grade; with a header)."
            ) from error
        if not documents or not queries:
            raise SourceError(f"{folder} has no question with a relevant document.")
        return cls(name or folder.name, documents, queries, unanswerable)


def _relevant(path: Path, held: Set[str]) -> dict[str, dict[str, int]]:
    relevant: dict[str, dict[str, int]] = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0 and document in held:
            relevant.setdefault(query, {})[document] = int(float(grade))
    return relevant


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


OTHER = "other"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its expected result. `relevant` maps document ids to grades; any of `answers` is right.

    `language` is "" if unknown; `type` is given by the question list.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    relevant: Mapping[str, int] | None = None
    is_unanswerable: bool = False
    language: str = ""
    type: str = OTHER


def asked_of(questions: QuestionSet) -> list[Asked]:
    """Return the questions of a set, unanswerable ones last."""
    listed = [(query, False) for query in questions.queries] + [(query, True) for query in questions.unanswerable]
    return [
        Asked(each.id, each.text, each.answers, None if lacks else each.relevant, lacks, question_language(each.text))
        for each, lacks in listed
    ]
