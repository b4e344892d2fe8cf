"""Answers that a chat model writes from the evidence, checked sentence by sentence before they count.

The gate decides first: with weak evidence the model isn't called. What the model writes is cleaned as it comes, and
checked when it is whole. When the model can't be had, the answer is quotes, and says why.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from answerable.answering.checking.check import check_answer
from answerable.answering.context import answering_messages, fitting, remembered, rewriting_messages
from answerable.answering.conversation import standalone
from answerable.answering.extractive import ExtractiveAnswerer, refuse, weigh
from answerable.answering.gate import Gate
from answerable.answering.messages import REFUSAL
from answerable.answering.safety.output import StreamCleaner, clean_output
from answerable.datatypes import Answer, AnswerEvent, Exchange, Reason, RetrievalResult, SentenceCheck, Usage
from answerable.errors import MalformedResponse, ProviderError
from answerable.protocols import ChatModel, Evidence
from answerable.text.languages import question_language
from answerable.text.sentences import sentence_spans

LONGEST_QUESTION = 400
REWRITING_TOKENS = 200

_MARK = re.compile(r"\[(\d{1,3})\]")
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]\s*_]*(?:\[\d{1,3}\]\s*)*$")
_CUT = "The model was stopped at {} tokens, so the answer may lack its end. Raise answer_tokens, or ask for less."


@dataclass(frozen=True, slots=True)
class Budgets:
    """Tokens for the passages, for the exchanges before, and for what the model writes."""

    context: int = 4000
    history: int = 1000
    answer: int = 2000


class GroundedAnswerer:
    """Lets a model write; `gate` refuses before it is asked, None never does.

    `keep_unsupported` leaves sentences that fail the check in the answer, with a note, instead of removing them.
    """

    def __init__(
        self,
        model: ChatModel,
        gate: Gate | None,
        quotes: int = 3,
        budgets: Budgets | None = None,
        keep_unsupported: bool = False,
    ) -> None:
        self._model = model
        self._gate = gate
        self._quoting = ExtractiveAnswerer(gate, quotes)
        self._budgets = budgets or Budgets()
        self._keep_unsupported = keep_unsupported

    def standalone(self, question: str, history: Sequence[Exchange]) -> tuple[str, Usage | None]:
        """The question as the model rewrites it after these exchanges, or as rules do where it can't."""
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
        written = clean_output(text, ()).strip().strip("\"“”'")
        if not written or "\n" in written or len(written) > LONGEST_QUESTION:
            return standalone(question, history), usage
        return written, usage

    def stream(self, evidence: Evidence, history: Sequence[Exchange]) -> Generator[AnswerEvent, None, None]:
        """The draft as it comes, then the answer that is left of it."""
        _, confidence, refused = weigh(evidence, self._gate)
        if refused:
            yield AnswerEvent(answer=refused)
            return
        passages = fitting(evidence.results, self._model.count_tokens, self._budgets.context)
        before = remembered(history, self._model.count_tokens, self._budgets.history)
        messages = answering_messages(evidence.question, evidence.language, passages, before)
        draft, is_cut = _Draft(passages), False
        try:
            with closing(self._model.stream(messages, self._budgets.answer)) as deltas:
                for delta in deltas:
                    is_cut = delta.truncated
                    yield from draft.take(delta.text, delta.usage)
                yield from draft.end()
            if is_cut and not draft.text.strip():
                raise MalformedResponse("The model used up its tokens before it wrote anything. Raise answer_tokens.")
        except ProviderError as error:
            quoted = self._quoting.answer(evidence)
            yield AnswerEvent(
                answer=replace(quoted, model=self._model.name, draft=draft.text, usage=draft.usage, problem=str(error))
            )
            return
        answer = self._checked(evidence, passages, draft, confidence, is_cut)
        yield AnswerEvent(answer=replace(answer, problem=_CUT.format(self._budgets.answer)) if is_cut else answer)

    def close(self) -> None:
        """Frees the model's connections."""
        self._model.close()

    def _checked(
        self,
        evidence: Evidence,
        passages: tuple[RetrievalResult, ...],
        draft: _Draft,
        confidence: float,
        is_cut: bool,
    ) -> Answer:
        written = _whole_sentences(draft.text, evidence.language) if is_cut else draft.text
        found = check_answer(written, passages, evidence.language, keep_unsupported=self._keep_unsupported)
        if found.citations:
            answer = Answer(
                question=evidence.question,
                text=found.text,
                answered=True,
                reason=Reason.ANSWERED,
                language=evidence.language,
                confidence=confidence,
                citations=found.citations,
                results=evidence.results,
            )
        else:
            reason = Reason.MODEL_REFUSED if _is_refusal(draft.text) else Reason.UNSUPPORTED
            answer = refuse(evidence, reason, confidence)
        checks = tuple(SentenceCheck(one.text, one.support.value, one.how) for one in found.sentences)
        return replace(answer, model=self._model.name, draft=draft.text, checks=checks, usage=draft.usage)


class _Draft:
    """What a model has written so far, made harmless; its marks are told once they are whole."""

    def __init__(self, passages: Sequence[RetrievalResult]) -> None:
        self.text = ""
        self.usage: Usage | None = None
        self._passages = passages
        self._cleaner = StreamCleaner(passages)
        self._told = 0

    def take(self, text: str, usage: Usage | None) -> Generator[AnswerEvent, None, None]:
        self.usage = usage or self.usage
        yield from self._tell(self._cleaner.feed(text))

    def end(self) -> Generator[AnswerEvent, None, None]:
        yield from self._tell(self._cleaner.finish())

    def _tell(self, text: str) -> Generator[AnswerEvent, None, None]:
        if not text:
            return
        self.text += text
        yield AnswerEvent(text=text)
        for mark in _MARK.finditer(self.text, self._told):
            self._told = mark.end()
            number = int(mark[1])
            if 1 <= number <= len(self._passages):
                yield AnswerEvent(mark=(number, self._passages[number - 1]))


def _whole_sentences(text: str, language: str) -> str:
    """A text that was cut without the sentence that it was cut in, unless that is all of it."""
    spans = sentence_spans(text, language)
    return text[: spans[-1][0]] if len(spans) > 1 and not _ENDED.search(text) else text


def _is_refusal(text: str) -> bool:
    plain = _MARK.sub("", text).strip(" .\n\"“”'").casefold()
    return not plain or any(sentence.rstrip(".").casefold() in plain for sentence in REFUSAL.values())
