"""Check a text that a model wrote from passages, without the evidence that it rests on.

The nearest source sentence is taken as the evidence. A sentence that a passage has letter for letter may be verified.
Any other is at most backed, if its source has enough of its words and the rules of `marks` find no difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from answerable.answering.checking.evidence import Evidence, look_up, nearest
from answerable.answering.checking.marks import Mark, Marked, mark, reason
from answerable.answering.checking.statements import Statement, read_statements
from answerable.answering.messages import REFUSAL
from answerable.datatypes import Citation, RetrievalResult, SentenceCheck
from answerable.text.characters import encodable
from answerable.text.languages import question_language
from answerable.text.terms import negations, terms, words

COVERED = 0.3
"""The share of a sentence's words that the nearest source sentence must have. A guess, not measured."""
SHARED, FEWEST_SHARED = 0.5, 2
"""The share of a clause's words, and how many, that a clause of the source must have. Guesses, not measured."""
LONGEST = 2000
"""Characters of the longest sentence that is checked: a longer one takes too long. A round number, not measured."""

_CLAUSES = re.compile(r"[,;:.!?()…|]+(?:\s|$)|\n|\s[–—-]\s|\s(?:but|because|and|pero|porque|sino|mas|y|e)\s")
_OPENS = re.compile(r"(?<!\S)\*\*(?=\S)[^*]*$")
_REFUSALS = frozenset(" ".join(words(refusal)) for refusal in REFUSAL.values())


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The text without `removed`, which `sentences` has too; `[n]` in the text is the n-th citation."""

    text: str
    citations: tuple[Citation, ...]
    sentences: tuple[SentenceCheck, ...]
    removed: tuple[SentenceCheck, ...]


def check_answer(text: str, passages: Sequence[RetrievalResult], language: str, marks: bool = True) -> CheckedAnswer:
    """Check each sentence of a text, in `language`, against the passages that the model was given.

    `[n]` in the text means `passages[n - 1]`, which then has to back the sentence. `marks=False` means that the model
    wasn't asked for such marks: any passage may. A sentence is removed if its nearest source sentence lacks too many of
    its words, or says something else.
    """
    spoken = question_language(text) or language
    statements = read_statements(encodable(text), language, len(passages))
    numbers: dict[Citation, int] = {}
    sentences: list[SentenceCheck] = []
    shown: list[str | None] = []
    for statement, after in zip_longest(statements, statements[1:]):
        named = [passages[number - 1] for number in statement.marks if marks and 1 <= number <= len(passages)]
        evidence = None if statement.is_furniture else _evidence(statement, named or passages, spoken)
        marked = _marked(statement, after, evidence, spoken)
        is_backed = marked.mark in (Mark.VERIFIED, Mark.CHECK) and not marked.differs
        cited = evidence.citations if evidence and is_backed else ()
        own = "".join(f"[{numbers.setdefault(each, len(numbers) + 1)}]" for each in cited)
        sentences.append(SentenceCheck(statement.written.strip(), marked.mark.value, marked.how))
        written = statement.gap + (statement.prefix + statement.cited(own) if marks else statement.written)
        shown.append(written if is_backed else "" if marked.mark is Mark.NOTHING_CLAIMED else None)
    removed = [check for check, each in zip(sentences, shown, strict=True) if each is None]
    return CheckedAnswer(_joined(statements, shown), tuple(numbers), tuple(sentences), tuple(removed))


def _evidence(statement: Statement, passages: Sequence[RetrievalResult], language: str) -> Evidence | None:
    body = statement.body
    if len(body) > LONGEST:
        return None
    if statement.is_code:
        body = "\n".join(line for line in body.split("\n") if not line.lstrip().startswith(("```", "~~~")))
        return look_up(body, passages, {})
    return look_up(body, passages, {}) or nearest(body, passages, {}, language)


def _marked(statement: Statement, after: Statement | None, evidence: Evidence | None, language: str) -> Marked:
    is_header = statement.is_row and after is not None and after.is_furniture
    if statement.is_label or statement.is_furniture or is_header or " ".join(words(statement.body)) in _REFUSALS:
        return Marked(Mark.NOTHING_CLAIMED, reason("refuses", language))
    if evidence and statement.is_code:
        return Marked(Mark.VERIFIED, reason("code", language))
    if evidence and not evidence.is_named and evidence.passage.document.language in ("", language):
        own = set(terms(statement.body, language))
        if len(own.intersection(terms(evidence.text, language))) < COVERED * len(own):
            return Marked(Mark.UNSUPPORTED, reason("too_few_words", language))
        if _denies(statement.body, evidence.text, language):
            # No second call reads this sentence, which would tell better.
            return Marked(Mark.CHECK, reason("negation", language), differs=True)
    return mark(statement.body, [evidence] if evidence else [], language)


def _denies(sentence: str, source: str, language: str) -> bool:
    """Return whether a clause denies what the source's most similar clause says, or the other way round."""
    theirs = [(frozenset(terms(each, language)), bool(negations(each, language))) for each in _CLAUSES.split(source)]
    for clause in _CLAUSES.split(sentence):
        own = frozenset(terms(clause, language))
        shared, denies, most = max((len(own & stems), denies, len(stems)) for stems, denies in theirs)
        # "Not underwater vehicles": a short denial of the source may be part of a longer clause of the sentence.
        is_alike = shared >= max(FEWEST_SHARED, most if denies and most < len(own) else SHARED * len(own))
        if is_alike and denies is not bool(negations(clause, language)):
            return True
    return False


def _joined(statements: Sequence[Statement], shown: Sequence[str | None]) -> str:
    """Return the text of the sentences that are shown, with headings and lead-ins that any of them follows."""
    kept: list[str] = []
    is_needed = False
    for statement, text in reversed(list(zip(statements, shown, strict=True))):
        if text:
            kept.append(text)
        elif text == "" and is_needed:
            kept.append(statement.gap + statement.written)
        is_heading = "#" in statement.prefix
        is_needed = bool(text) or (is_needed and not (is_heading and text == ""))
    lines = "".join(reversed(kept)).strip().split("\n")
    return "\n".join(_balanced(line) if line.count("**") % 2 else line for line in lines)


def _balanced(line: str) -> str:
    """Return a line whose bold text is closed, or plain if a removed sentence would have opened it."""
    return f"{line}**" if _OPENS.search(line) else line.replace("**", "")
