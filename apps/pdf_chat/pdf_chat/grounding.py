"""What of a model's answer the passages back; and passages can't pass for the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.documents import Document

import answerable
from answerable import Chunk, Location, RetrievalResult
from answerable.answering import check_answer, harmless
from answerable.text import question_language

# The headings of the prompt, in whatever case and spacing, with accents as one character, two or none.
_HEADINGS = re.compile(
    r"CONTEXTO\s*[:：]|REGRAS\s*[:：]|EXEMPLOS\s+DE\s+PERGUNTAS\s+FORA\s+DO\s+CONTEXTO"
    r"|PERGUNTA\s+DO\s+USU(?:Á|A\u0301?)RIO|RESPONDA\s+A\s+[\"“”']",
    re.IGNORECASE,
)


def inert(text: str) -> str:
    """A text without anything that looks like a part of the prompt: its headings are in lower case in it."""
    return _HEADINGS.sub(lambda heading: heading[0].lower().replace("：", ":"), harmless(text))


@dataclass(frozen=True, slots=True)
class Checked:
    """What of an answer the documents back, and the sentences that they don't.

    `supported` is empty where they back nothing.
    """

    supported: str
    unsupported: tuple[str, ...]


def checked(answer: str, documents: Sequence[Document]) -> Checked:
    """An answer held against the documents that it was to be written from."""
    passages = [_passage(number, document) for number, document in enumerate(documents)]
    # A short answer may not tell its language: it is the documents' then.
    languages = (question_language(answer), *(passage.document.language for passage in passages), "pt")
    found = check_answer(answer, passages, next(filter(None, languages)), marks=False)
    unsupported = tuple(sentence.text for sentence in found.removed)
    return Checked(found.text if found.citations else "", unsupported)


def _passage(number: int, document: Document) -> RetrievalResult:
    content = document.page_content
    source = str(document.metadata.get("source", ""))
    whole = answerable.Document.from_text(content, source=source, language=question_language(content))
    chunk = Chunk(
        id=f"{whole.id}-{number}",
        document_id=whole.id,
        content=content,
        start=0,
        end=len(content),
        sequence=number,
        location=Location(lines=None),
    )
    return RetrievalResult(chunk, score=0.0, document=whole)
