"""Mark each sentence of a written answer by what its evidence says, and return the answer, or what the model refused.

The marks are the rules of `checking.marks`, and what a second call to the model doubts. They are beside the text, which
stays as the model wrote it; only strict grounding leaves marked sentences out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from answerable.answering.checking.evidence import Evidence
from answerable.answering.checking.marks import Mark, mark, reason
from answerable.answering.checking.statements import Statement, read_statements
from answerable.answering.decide import Parts, Writer, answered, refuse
from answerable.answering.found import TITLE, Found, said
from answerable.answering.messages import LEFT_OUT, REFUSAL, phrase
from answerable.answering.prompt import Known, checking_messages, harmless
from answerable.answering.sentences import Excerpt, column_names
from answerable.datatypes import Answer, Reason, RetrievalResult, SentenceCheck, Step
from answerable.errors import ProviderError
from answerable.formats.locate import shown_name
from answerable.protocols import ChatModel
from answerable.sharing import Work

if TYPE_CHECKING:
    from answerable.answering.writing.prose import Prose
    from answerable.answering.writing.write import Draft

CHECK_TOKENS = 4000
"""Tokens of the list of doubted sentences: a few, but a model may think before. A guess, not measured."""
SHORT = 2
"""Words of a sentence without a mark that claims nothing by itself, as "Yes."; "It is free." has three."""
_LIST = re.compile(r"\[[\d\s,]*\]")
_NUMBER = re.compile(r"\d+")


def verify(draft: Draft, found: Found, writer: Writer, parts: Parts, work: Work) -> Answer:
    """Return the draft as an answer whose sentences are marked, or as a refusal in the model's words.

    The answer's confidence is the share of verified sentences among those that claim anything. Raise Stopped.
    """
    prose = draft.prose
    read = (result for result in draft.box.passages if result.document.id not in draft.box.computed)
    found = replace(found, results=tuple(read))
    language = found.asked.language
    verdict = draft.ledger.verdict or ("not_found" if _refuses(prose.text) else "")
    statements = read_statements(prose.text, language, len(prose.citations))
    sources = [prose.of(each.marks) for each in statements]
    if not prose.citations and verdict != "not_found":
        sources = [_nearest(draft, each, language) for each in statements]
    asked = {*_NUMBER.findall(found.asked.message), *_NUMBER.findall(found.asked.question)}
    checks = [
        _checked(each, evidence, prose, verdict, asked, language, parts)
        for each, evidence in zip(statements, sources, strict=True)
    ]
    # The row above a table's line names the columns.
    for number, after in enumerate(statements[1:]):
        if after.is_furniture and statements[number].is_row:
            checks[number] = replace(
                checks[number], support=Mark.NOTHING_CLAIMED.value, how=reason("names_columns", language)
            )
    if writer.checks_again and isinstance(writer.model, ChatModel):
        checks = _doubted(writer.model, checks, sources, draft, language, Known(parts.now()), work)
    checks = [replace(one, how=_noted(one, draft, language)) for one in checks]
    answer = _answer(verdict, checks, statements, draft, found, writer)
    counts = Counter(check.support for check in checks)
    why = Step.of("verify", {"sentences": len(checks)}, {**counts, "reason": str(answer.reason)})
    return replace(answer, checks=tuple(checks), why=(why,))


def _answer(
    verdict: str,
    checks: Sequence[SentenceCheck],
    statements: Sequence[Statement],
    draft: Draft,
    found: Found,
    writer: Writer,
) -> Answer:
    text, cited = draft.prose.text.strip(), tuple(draft.prose.citations)
    without = [each for each in checks if each.support in (Mark.CHECK, Mark.UNSUPPORTED)] if writer.is_strict else []
    if without:
        note = phrase(LEFT_OUT, found.asked.language).format(n=len(without))
        text = f"{_kept(checks, statements)}\n\n{note}".strip()
    if verdict == "not_found":
        return replace(refuse(found, Reason.MODEL_REFUSED), text=text, citations=cited)
    if writer.is_strict and not any(check.support == Mark.VERIFIED for check in checks):
        refused = refuse(found, Reason.UNSUPPORTED)
        return replace(refused, text=f"{refused.text}\n\n{text}" if without else refused.text)
    if not cited and not verdict:
        return replace(refuse(found, Reason.OWN_WORDS), text=text)
    claimed = [check.support for check in checks if check.support != Mark.NOTHING_CLAIMED]
    answer = answered(found, text, cited, claimed.count(Mark.VERIFIED) / max(len(claimed), 1))
    return replace(answer, reason=Reason.PARTLY) if verdict == "partly" else answer


def _nearest(draft: Draft, statement: Statement, language: str) -> list[Evidence]:
    """Return the nearest sentence for a sentence of an answer without marks, and add it to the citations."""
    near = None if statement.is_label else draft.ledger.nearest(statement.body, language)
    if near is None:
        return []
    for citation in near.citations:
        if citation not in draft.prose.citations:
            draft.prose.citations.append(citation)
            draft.prose.evidence.append(near)
    return [near]


def _checked(
    statement: Statement,
    evidence: Sequence[Evidence],
    prose: Prose,
    verdict: str,
    asked: Set[str],
    language: str,
    parts: Parts,
) -> SentenceCheck:
    found = mark(statement.body, evidence, language, parts.now().date())
    # "The fee of 2025 isn't given" repeats a number of the question.
    says_missing = verdict in ("partly", "not_found") and set(_NUMBER.findall(statement.body)) <= asked
    if not evidence and found.mark is Mark.UNSUPPORTED and (says_missing or len(statement.body.split()) <= SHORT):
        name = "missing" if says_missing else "claims_nothing"
        found = replace(found, mark=Mark.NOTHING_CLAIMED, how=reason(name, language))
    numbers = tuple(number for number, each in enumerate(prose.evidence, 1) if each in evidence)
    return SentenceCheck(statement.written.strip(), found.mark.value, found.how, numbers)


def _doubted(
    model: ChatModel,
    checks: Sequence[SentenceCheck],
    sources: Sequence[Sequence[Evidence]],
    draft: Draft,
    language: str,
    known: Known,
    work: Work,
) -> list[SentenceCheck]:
    """Return the checks; of the verified sentences, those that a second call of the model doubts become "check"."""
    numbers = [number for number, check in enumerate(checks) if check.support == Mark.VERIFIED]
    pairs = [
        (checks[number].text, [source_of(each, draft.box.computed) for each in sources[number]]) for number in numbers
    ]
    if not pairs:
        return list(checks)
    try:
        text = draft.reply(model, checking_messages(pairs, known), CHECK_TOKENS, work)
    except ProviderError:
        return list(checks)
    listed = _LIST.findall(text)
    doubts = map(int, re.findall(r"\d{1,3}", listed[-1])) if listed else ()
    doubted = {numbers[number - 1] for number in doubts if 1 <= number <= len(numbers)}
    return [
        replace(check, support=Mark.CHECK.value, how=reason("doubted", language)) if number in doubted else check
        for number, check in enumerate(checks)
    ]


def source_of(evidence: Evidence, computed: Container[str]) -> tuple[str, str]:
    """Return source words and where they are: names of columns above a row, and below a figure its rows."""
    document = evidence.passage.document
    is_figure = document.id in computed
    above = column_names(Excerpt(evidence.passage, evidence.start, evidence.end))
    rows = [each.quote for each in evidence.citations] if is_figure else []
    # The citation's own place: a passage of a chat has other senders too.
    place = TITLE if is_figure else f"{shown_name(document)}, {said(evidence.citations[0].location, 'en')}"
    return "\n".join(filter(None, (above, evidence.text, *rows))), place


def _noted(check: SentenceCheck, draft: Draft, language: str) -> str:
    note = reason("image", language) if shows_image(check.text, draft.box.passages) else ""
    return "; ".join(filter(None, (check.how, note)))


# An image in Markdown, a link definition that an image may refer to, and an HTML tag.
_IMAGE = re.compile(
    r"!\[[^\[\]\n]{0,300}\]\([^)\n]{0,2000}|(?m:^)[ ]{0,3}\[[^\[\]\n]{1,300}\]:[^\n]{0,2000}|<img\b[^>]{0,2000}",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?://|\bwww\.)(?:[^\s/@]{0,200}@)?(?:www\.)?([\w-]{1,63}(?:\.[\w-]{1,63}){1,9})", re.IGNORECASE)


def shows_image(text: str, passages: Sequence[RetrievalResult]) -> bool:
    """Return whether the text shows an address on the server of an image, its own or a passage's.

    Servers are compared, not whole addresses: a model may have encoded what it read in the address.
    """
    shown = _hosts(text)
    texts = (text, *(passage.chunk.content for passage in passages)) if shown else ()
    images = {host for each in texts for found in _IMAGE.findall(each) for host in _hosts(found)}
    return bool(shown & images)


def _hosts(text: str) -> set[str]:
    return {host.lower() for host in _HOST.findall(text)}


def _kept(checks: Sequence[SentenceCheck], statements: Sequence[Statement]) -> str:
    """Return the text without the sentences to check and those without a source."""
    kept = [
        f"{statement.gap}{statement.written}"
        for check, statement in zip(checks, statements, strict=True)
        if check.support not in (Mark.CHECK, Mark.UNSUPPORTED)
    ]
    return "".join(kept).strip()


def _refuses(text: str) -> bool:
    """Return whether an answer begins with the sentence by which this package refuses, as models repeat it."""
    return any(harmless(text).strip().startswith(refusal.rstrip(".")) for refusal in REFUSAL.values())
