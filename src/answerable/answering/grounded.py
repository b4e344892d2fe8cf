"""Answers that a chat model writes from the evidence, checked sentence by sentence.

The model leads the conversation: every message reaches it, with the passages and the earlier exchanges. Its text is
cleaned while it streams and checked when complete. Sentences that the passages don't support are left out or, if the
answerer is to mark them, kept with a note. If nothing is left, or the provider fails, the answer consists of quotes.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from answerable.answering.checking.check import check_answer
from answerable.answering.extractive import ExtractiveAnswerer, answered, refuse
from answerable.answering.follow_up_rewriting import standalone
from answerable.answering.gate import Gate
from answerable.answering.phrases import REFUSAL
from answerable.answering.prompt import answering_messages, fitting, remembered, rewriting_messages
from answerable.answering.safety.images import image_note
from answerable.answering.safety.output import StreamCleaner, clean_output
from answerable.answering.small_talk import claims_nothing_exact, is_small_talk
from answerable.datatypes import Answer, AnswerEvent, Exchange, Reason, RetrievalResult, SentenceCheck, Usage
from answerable.errors import MalformedResponse, ProviderError, error_code
from answerable.protocols import AnswerReader, ChatModel, Evidence, StatementJudge
from answerable.text.languages import question_language
from answerable.text.sentences import sentence_spans

LONGEST_QUESTION = 400
REWRITING_TOKENS = 200

_MARK = re.compile(r"\[(\d{1,3})\]")
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]\s*_]*(?:\[\d{1,3}\]\s*)*$")
_TRUNCATED = "The model stopped at {} tokens, so the answer may be incomplete. Raise answer_tokens, or ask for less."


@dataclass(frozen=True, slots=True)
class Budgets:
    """Maximum tokens of the passages, the earlier exchanges, and the answer."""

    context: int = 4000
    history: int = 1000
    answer: int = 2000


class GroundedAnswerer:
    """The answerer that uses a chat model. `gate` decides whether quotes take the place of an answer that fails.

    `judge` reads the sentences; without one, only quotes count as supported. `is_marked` marks sentences that fail the
    check instead of removing them.
    """

    def __init__(
        self,
        model: ChatModel,
        gate: Gate | None,
        judge: StatementJudge | None = None,
        quotes: int = 3,
        budgets: Budgets | None = None,
        is_marked: bool = False,
        reader: AnswerReader | None = None,
    ) -> None:
        self._model = model
        self._judge = judge
        self.quoting = ExtractiveAnswerer(gate, quotes, reader)
        self._budgets = budgets or Budgets()
        self._is_marked = is_marked

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
        written = clean_output(text, ()).strip().strip("\"“”'")
        if not written or "\n" in written or len(written) > LONGEST_QUESTION:
            return standalone(question, history), usage
        return written, usage

    def stream(self, evidence: Evidence, history: Sequence[Exchange]) -> Generator[AnswerEvent, None, None]:
        """Yield the draft as it streams, then the checked answer."""
        quoted = self.quoting.answer(evidence)
        if evidence.computed and quoted is evidence.computed and quoted.answered:
            # A language model doesn't count.
            yield AnswerEvent(answer=quoted)
            return
        if evidence.topic is not None and not quoted.answered:
            # The library searches again without the filter that it took from the question.
            yield AnswerEvent(answer=quoted)
            return
        passages = fitting(evidence.results, self._model.count_tokens, self._budgets.context)
        before = remembered(history, self._model.count_tokens, self._budgets.history)
        messages = answering_messages(evidence.message or evidence.question, evidence.language, passages, before)
        draft, is_truncated = _Draft(passages), False
        try:
            with closing(self._model.stream(messages, self._budgets.answer)) as deltas:
                for delta in deltas:
                    is_truncated = delta.truncated
                    yield from draft.take(delta.text, delta.usage)
                yield from draft.end()
            if is_truncated and not draft.text.strip():
                raise MalformedResponse("The model used up its tokens before it wrote anything. Raise answer_tokens.")
        except ProviderError as error:
            failed = replace(quoted, model=self._model.name, draft=draft.text, usage=draft.usage)
            yield AnswerEvent(answer=replace(failed, problem=str(error), problem_code=error_code(type(error))))
            return
        answer = self._checked(evidence, passages, draft, quoted, is_truncated)
        if is_truncated:
            answer = replace(answer, problem=_TRUNCATED.format(self._budgets.answer), problem_code="truncated")
        yield AnswerEvent(answer=answer)

    def close(self) -> None:
        """Close the model's connections."""
        self._model.close()

    def _checked(
        self,
        evidence: Evidence,
        passages: tuple[RetrievalResult, ...],
        draft: _Draft,
        quoted: Answer,
        is_truncated: bool,
    ) -> Answer:
        written = _whole_sentences(draft.text, evidence.language) if is_truncated else draft.text
        found = check_answer(written, passages, evidence.language, self._judge, keep_unsupported=self._is_marked)
        own_words = _MARK.sub("", written).strip()
        if found.citations:
            answer = answered(evidence, found.text, found.citations, quoted.confidence)
        elif _is_refusal(draft.text):
            answer = refuse(evidence, Reason.MODEL_REFUSED, quoted.confidence)
        elif is_small_talk(evidence.message) and claims_nothing_exact(own_words, evidence.language):
            answer = replace(refuse(evidence, Reason.OWN_WORDS, quoted.confidence), text=own_words)
        elif self._is_marked:
            answer = replace(refuse(evidence, Reason.OWN_WORDS, quoted.confidence), text=found.text or own_words)
        elif quoted.answered:
            answer = replace(quoted, reason=Reason.QUOTED)
        else:
            answer = refuse(evidence, Reason.UNSUPPORTED, quoted.confidence)
        notes = (image_note(one.text, passages) for one in found.sentences)
        checks = tuple(
            SentenceCheck(one.text, one.support.value, "; ".join(filter(None, (one.how, note))))
            for one, note in zip(found.sentences, notes, strict=True)
        )
        return replace(answer, model=self._model.name, draft=draft.text, checks=checks, usage=draft.usage)


class _Draft:
    """The cleaned text of an answer so far; makes events of new text and of completed citation marks."""

    def __init__(self, passages: Sequence[RetrievalResult]) -> None:
        self.text = ""
        self.usage: Usage | None = None
        self._passages = passages
        self._cleaner = StreamCleaner(passages)
        self._read_to = 0

    def take(self, text: str, usage: Usage | None) -> Generator[AnswerEvent, None, None]:
        self.usage = usage or self.usage
        yield from self._events(self._cleaner.feed(text))

    def end(self) -> Generator[AnswerEvent, None, None]:
        yield from self._events(self._cleaner.finish())

    def _events(self, text: str) -> Generator[AnswerEvent, None, None]:
        if not text:
            return
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


def _is_refusal(text: str) -> bool:
    plain = _MARK.sub("", text).strip(" .\n\"“”'").casefold()
    return not plain or any(sentence.rstrip(".").casefold() in plain for sentence in REFUSAL.values())
