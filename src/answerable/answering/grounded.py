"""Answers that a chat model writes from the evidence, checked sentence by sentence.

The model leads the conversation: every message reaches it, with the passages, what was computed, and the earlier
exchanges. Its answer is shown as it wrote it, letter for letter; doors make it safe for what they render it in. The
check cites what the passages support and marks the other sentences or, if it is strict, leaves them out and says how
many. Quotes take the place of an answer only if the provider fails.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from answerable.answering.checking.check import check_answer
from answerable.answering.checking.refusals import RefusalReader
from answerable.answering.checking.rendering import left_out
from answerable.answering.computed_passage import ComputedPassage, computed_passage
from answerable.answering.extractive import ExtractiveAnswerer, answered, refuse
from answerable.answering.follow_up_rewriting import standalone
from answerable.answering.gate import Gate
from answerable.answering.prompt import answering_messages, fitting, remembered, rewriting_messages
from answerable.answering.safety.characters import visible
from answerable.answering.safety.images import image_note
from answerable.datatypes import Answer, AnswerEvent, Exchange, Reason, RetrievalResult, SentenceCheck, Usage
from answerable.errors import MalformedResponse, ProviderError, error_code
from answerable.protocols import AnswerReader, ChatModel, Evidence, StatementJudge
from answerable.text.characters import encodable
from answerable.text.languages import question_language
from answerable.text.sentences import sentence_spans

LONGEST_QUESTION = 400
REWRITING_TOKENS = 200

_MARK = re.compile(r"\[(\d{1,3})\]")
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]\s*_]*(?:\[\d{1,3}\]\s*)*$")
_RAISE = "Raise ANSWERABLE_ANSWER_TOKENS (the setting answer_tokens)"
_TRUNCATED = f"The model stopped at {{}} tokens, so the answer may be incomplete. {_RAISE}, or ask for less."
_THOUGHT_ONLY = f"The model used up its {{}} tokens, perhaps by thinking, before it wrote anything. {_RAISE}."


@dataclass(frozen=True, slots=True)
class Budgets:
    """Maximum tokens of the passages, the earlier exchanges, and the answer."""

    context: int = 4000
    history: int = 1000
    answer: int = 8000


class GroundedAnswerer:
    """The answerer that uses a chat model. `gate` decides whether quotes take the place of an answer that fails.

    `judge` reads the sentences; without one, only quotes count as supported. `is_strict` leaves out the sentences that
    fail the check instead of marking them. `refusals` recognises refusals in the model's own words.
    """

    def __init__(
        self,
        model: ChatModel,
        gate: Gate | None,
        judge: StatementJudge | None = None,
        quotes: int = 3,
        budgets: Budgets | None = None,
        is_strict: bool = False,
        reader: AnswerReader | None = None,
        refusals: RefusalReader | None = None,
    ) -> None:
        self._refusals = refusals
        self._model = model
        self._judge = judge
        self.quoting = ExtractiveAnswerer(gate, quotes, reader)
        self._budgets = budgets or Budgets()
        self._is_strict = is_strict

    def standalone(self, question: str, history: Sequence[Exchange]) -> tuple[str, Usage | None]:
        """Return the question as rewritten by the model or, if the model fails, by rules."""
        if not history:
            return question, None
        before = remembered(history, self._model.count_tokens, self._budgets.history)
        messages = rewriting_messages(question, question_language(question), before)
        text, usage = "", None
        try:
            with closing(self._model.stream(messages, REWRITING_TOKENS)) as deltas:
                for delta in deltas:
                    text, usage = text + delta.text, delta.usage or usage
        except ProviderError:
            return standalone(question, history), usage
        written = visible(text).strip().strip("\"“”'")
        if not written or "\n" in written or len(written) > LONGEST_QUESTION:
            return standalone(question, history), usage
        return written, usage

    def stream(self, evidence: Evidence, history: Sequence[Exchange]) -> Generator[AnswerEvent, None, None]:
        """Yield the draft as it streams, then the checked answer."""
        if evidence.computed and not evidence.computed.answered:
            # What to compute, or of which rows, is unclear to rules, not to the model.
            evidence = replace(evidence, computed=None)
        quoted = self.quoting.answer(evidence)
        if evidence.topic is not None and not quoted.answered:
            # The library searches again without the filter that it took from the question.
            yield AnswerEvent(answer=quoted)
            return
        passages = fitting(evidence.results, self._model.count_tokens, self._budgets.context)
        computed = computed_passage(evidence.computed) if evidence.computed else None
        given = (*passages, computed.result) if computed else passages
        before = remembered(history, self._model.count_tokens, self._budgets.history)
        messages = answering_messages(evidence.message or evidence.question, evidence.language, given, before)
        draft, is_truncated = _Draft(passages), False
        try:
            with closing(self._model.stream(messages, self._budgets.answer)) as deltas:
                for delta in deltas:
                    is_truncated = delta.truncated
                    yield from draft.take(delta.text, delta.usage)
            if is_truncated and not draft.text.strip():
                raise MalformedResponse(_THOUGHT_ONLY.format(self._budgets.answer))
        except ProviderError as error:
            failed = replace(quoted, model=self._model.name, draft=draft.text, usage=draft.usage)
            yield AnswerEvent(answer=replace(failed, problem=str(error), problem_code=error_code(type(error))))
            return
        written = _whole_sentences(draft.text, evidence.language) if is_truncated else draft.text
        answer = self._checked(evidence, passages, computed, written, quoted.confidence)
        if is_truncated:
            answer = replace(answer, problem=_TRUNCATED.format(self._budgets.answer), problem_code="truncated")
        yield AnswerEvent(answer=replace(answer, model=self._model.name, draft=draft.text, usage=draft.usage))

    def close(self) -> None:
        """Close the model's connections."""
        self._model.close()

    def _checked(
        self,
        evidence: Evidence,
        passages: Sequence[RetrievalResult],
        computed: ComputedPassage | None,
        written: str,
        confidence: float,
    ) -> Answer:
        is_kept = not self._is_strict
        found = check_answer(written, passages, evidence.language, self._judge, True, is_kept, computed, self._refusals)
        without = left_out(len(found.removed), evidence.language) if self._is_strict else ""
        text = "\n\n".join(filter(None, (found.text, without)))
        if found.refuses or not found.sentences:
            answer = refuse(evidence, Reason.MODEL_REFUSED, confidence)
        elif not found.claims:
            answer, text = refuse(evidence, Reason.OWN_WORDS, confidence), written.strip()
        elif self._is_strict and not found.citations:
            answer = refuse(evidence, Reason.UNSUPPORTED, confidence)
            text = f"{answer.text} {without}"
        else:
            answer = answered(evidence, text, found.citations, confidence)
        notes = (image_note(one.text, passages) for one in found.sentences)
        checks = tuple(
            SentenceCheck(one.text, one.support.value, "; ".join(filter(None, (one.how, note))))
            for one, note in zip(found.sentences, notes, strict=True)
        )
        return replace(answer, text=text or answer.text, citations=found.citations, checks=checks)


class _Draft:
    """The text of an answer so far; makes events of new text and of completed citation marks."""

    def __init__(self, passages: Sequence[RetrievalResult]) -> None:
        self.text = ""
        self.usage: Usage | None = None
        self._passages = passages
        self._read_to = 0

    def take(self, text: str, usage: Usage | None) -> Generator[AnswerEvent, None, None]:
        self.usage = usage or self.usage
        if not text:
            return
        text = encodable(text)
        self.text += text
        yield AnswerEvent(text=text)
        for mark in _MARK.finditer(self.text, self._read_to):
            self._read_to = mark.end()
            number = int(mark[1])
            if 1 <= number <= len(self._passages):
                yield AnswerEvent(mark=(number, self._passages[number - 1]))


def _whole_sentences(text: str, language: str) -> str:
    """Return a truncated text without its unfinished last sentence, unless it has no other sentence."""
    spans = sentence_spans(text, language)
    return text[: spans[-1][0]] if len(spans) > 1 and not _ENDED.search(text) else text
