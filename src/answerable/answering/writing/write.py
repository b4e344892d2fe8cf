"""Have a model answer: it searches and reads with tools, hands over its evidence, then writes, shown as it comes.

A model without tools is asked twice: for further searches, and for evidence and answer in lines. Whatever a model gets
wrong costs its answer marks (see `answering.writing.verify`): no malformed reply is an error, and no text is replaced.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from answerable.answering.checking.evidence import Evidence
from answerable.answering.decide import Parts, Writer
from answerable.answering.found import Found, computed_passage
from answerable.answering.prompt import (
    Known,
    fitting,
    harmless,
    planning_messages,
    remembered,
    tool_messages,
    writing_messages,
)
from answerable.answering.writing.arguments import WrongArguments, read_arguments
from answerable.answering.writing.lines import VERDICTS, Lines, verdict_of
from answerable.answering.writing.prose import Ledger, Prose
from answerable.answering.writing.tools import TOOLS, Toolbox, interleaved
from answerable.answering.writing.whole import READ_ALL, groups_of, read_all
from answerable.datatypes import Answer, AnswerEvent, Exchange, Facts, RetrievalResult, Step, Usage
from answerable.errors import MalformedResponse, ProviderError, ToolsRefused, error_code
from answerable.protocols import ChatModel, Delta, Message, Tool, ToolCall, ToolModel
from answerable.sharing import Work

PLAN_TOKENS = 400
"""Tokens of a plan: a question and four searches take some 100. A guess, not measured."""
MOST_SEARCHES = 4
"""Further searches of a plan; three found 30 of 30 passages that one search found 24 of (design.md)."""
LONGEST_QUESTION = 400
"""Characters of a rewritten question; in more, a model wrote an answer instead. A round number, not measured."""
SHOWN = 120
"""Characters of a call's arguments in `Answer.why`. A round number, not measured."""

_RAISE = "Raise ANSWERABLE_ANSWER_TOKENS (the setting answer_tokens)"
_TRUNCATED = f"The model stopped at {{}} tokens, so the answer may be incomplete. {_RAISE}, or ask for less."
_THOUGHT_ONLY = f"The model used up its {{}} tokens, perhaps by thinking, before it wrote anything. {_RAISE}."
_SILENT = "The model wrote no answer. Ask again, or choose another model."
_NOW = "There are no more calls. Write the answer now, from what you have."
_FIRST = "Hand over the evidence with the tool `evidence` first, then write the answer again with its numbers."

EVIDENCE = Tool(
    "evidence",
    "Hand over the source words that your answer rests on, whole and letter for letter, and your verdict.",
    {
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": list(VERDICTS)},
            "missing": {"type": "string", "description": "What the documents don't say, if anything."},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "passage": {"type": "integer", "description": "The passage's number."},
                        "text": {"type": "string", "description": "A whole sentence, row or chat line of it."},
                    },
                    "required": ["passage", "text"],
                },
            },
        },
        "required": ["verdict", "items"],
    },
)


class Draft:
    """What a model wrote, and what it rests on. If `has_failed`, there is no answer; see `problem`."""

    def __init__(self, writer: Writer, found: Found, parts: Parts) -> None:
        self.prose = Prose(self._source, found.asked.language, shows=not writer.is_strict)
        self.usage: Usage | None = None
        self.question = ""
        self.has_failed = False
        self.problem = self.problem_code = ""
        self.steps: tuple[Step, ...] = ()
        self._writer, self._found, self._parts = writer, found, parts
        self.fill(found.results)

    def fill(self, results: Sequence[RetrievalResult]) -> None:
        """Begin with these passages, numbered from 1, as many as fit in the budget."""
        model = self._writer.model
        if isinstance(model, ChatModel) and results:
            results = fitting(results, model.count_tokens, self._writer.budgets.context)
        self.box = Toolbox(self._found.asked, replace(self._found, results=tuple(results)), self._parts)
        self.ledger = Ledger(self.box.passages, self.box.computed, self._found.where)

    def _source(self, number: int, sentence: str) -> Evidence | None:
        return self.ledger.source(number, sentence, self._found.asked.language)

    def signed(self, answer: Answer) -> Answer:
        """Return the answer with the model's name, its cost and any problem."""
        usage = [used for used in (self.usage, answer.usage) if used is not None]
        return replace(
            answer,
            question=self.question or answer.question,
            model=self._writer.model.name,
            usage=sum(usage[1:], usage[0]) if usage else None,
            problem=self.problem,
            problem_code=self.problem_code,
        )

    def reply(self, model: ChatModel, messages: Sequence[Message], tokens: int, work: Work) -> str:
        """Return a whole reply of the model, and add its cost. Raise ProviderError and Stopped."""
        text = ""
        with closing(model.stream(messages, tokens)) as deltas:
            for delta in deltas:
                work.check()
                text += delta.text
                self.spend(delta.usage)
        return text

    def spend(self, usage: Usage | None) -> None:
        """Add the cost of a call."""
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage

    @property
    def why(self) -> tuple[Step, ...]:
        """The model's calls, and how its writing ended."""
        given: Facts = {"model": self._writer.model.name, "passages": len(self.box.passages)}
        chose: Facts = {"evidence": len(self.ledger.items), "verdict": self.ledger.verdict, "problem": self.problem}
        usage = self.usage or Usage()
        values: Facts = {
            "characters": len(self.prose.text),
            "not found": self.ledger.lost or None,
            "tokens read": usage.input_tokens or None,
            "tokens written": usage.output_tokens or None,
        }
        return (*self.steps, Step.of("write", given, chose, values))


Writing = Generator[AnswerEvent, None, None]


def write(
    writer: Writer, found: Found, history: Sequence[Exchange], parts: Parts, work: Work
) -> Generator[AnswerEvent, None, Draft]:
    """Yield events while the answer is written; return the draft. Closing the generator stops the model."""
    draft = Draft(writer, found, parts)
    talk = _Talk(writer, found, history, parts, work, draft)
    try:
        yield from talk.lead()
        if not draft.prose.text.strip():
            raise MalformedResponse(_THOUGHT_ONLY.format(writer.budgets.answer) if talk.is_truncated else _SILENT)
        if talk.is_truncated:
            draft.problem, draft.problem_code = _TRUNCATED.format(writer.budgets.answer), "truncated"
    except ProviderError as error:
        draft.problem, draft.problem_code = str(error), error_code(type(error))
        # What was shown stays, with the problem; without any text, quotes answer.
        draft.has_failed = not draft.prose.text.strip()
    return draft


class _Talk:
    """The conversation with the model about one question."""

    def __init__(
        self, writer: Writer, found: Found, history: Sequence[Exchange], parts: Parts, work: Work, draft: Draft
    ) -> None:
        self._writer = writer
        self._found = found
        self._history = history
        self._parts = parts
        self._known = Known(parts.now(), tuple(parts.store.languages()))
        self._work = work
        self._draft = draft
        self._ends = time.monotonic() + writer.budgets.seconds
        self.is_truncated = False

    def lead(self) -> Writing:
        model = self._writer.model
        if not isinstance(model, ChatModel):
            self._compute()
            pieces = map(Delta, model.write(self._found.asked.message, self._draft.box.passages, self._history))
            yield from self._written(pieces)
            return
        before = remembered(self._history, model.count_tokens, self._writer.budgets.history)
        if isinstance(model, ToolModel):
            try:
                yield from self._with_tools(model, before)
                return
            except ToolsRefused:
                pass
        yield from self._without_tools(model, before)

    def _with_tools(self, model: ToolModel, before: Sequence[Message]) -> Writing:
        draft, budgets = self._draft, self._writer.budgets
        shown = f"{self._shown()}\n\n{draft.box.tables()}".strip()
        messages = tool_messages(self._found.asked, shown, before, self._known)
        tools = (*TOOLS, READ_ALL, EVIDENCE)
        is_reminded, spent = False, 0
        for turn in range(budgets.rounds + 1):
            text, calls = "", list[ToolCall]()
            with closing(model.converse(messages, tools, budgets.answer)) as deltas:
                for delta in deltas:
                    self._receive(delta)
                    calls += delta.calls
                    text += delta.text
                    # Before its evidence, a model may think aloud; that isn't the answer.
                    if draft.ledger.verdict and delta.text:
                        is_next = text == delta.text and draft.prose.text
                        yield from draft.prose.take(f"\n\n{delta.text}" if is_next else delta.text)
            messages.append(Message("assistant", text, tuple(calls)))
            if not calls and (draft.ledger.verdict or self.is_truncated or is_reminded or not _MARKS.search(text)):
                if not draft.ledger.verdict:
                    yield from draft.prose.take(text)
                break
            if not calls:
                is_reminded = True
                messages.append(Message("user", _FIRST))
            is_over = turn + 1 >= budgets.rounds or time.monotonic() > self._ends
            for call in calls:
                yield AnswerEvent(step=_asked(call))
                is_late = is_over or spent > budgets.tools
                result = _NOW
                if not is_late or call.name == EVIDENCE.name:
                    result = yield from self._called(call)
                spent += sum(model.count_tokens([result]))
                messages.append(Message("tool", result, call_id=call.id))
        yield from draft.prose.end()

    def _called(self, call: ToolCall) -> Generator[AnswerEvent, None, str]:
        draft = self._draft
        known, cited = len(draft.box.passages), len(draft.ledger.items)
        if call.name == EVIDENCE.name:
            result = self._evidence(call)
        elif call.name == READ_ALL.name:
            result = yield from self._read_all(call)
        else:
            result = draft.box.call(call)
        chose: Facts = {
            "new passages": len(draft.box.passages) - known or None,
            "evidence": len(draft.ledger.items) - cited or None,
        }
        draft.steps += (replace(_asked(call), chose=Step.of("", chose=chose).chose),)
        return result

    def _read_all(self, call: ToolCall) -> Generator[AnswerEvent, None, str]:
        model, draft = self._writer.model, self._draft
        assert isinstance(model, ChatModel)
        try:
            given = read_arguments(call.arguments, READ_ALL.parameters)
            parts = [part for name in given["documents"] for part in draft.box.parts_of(name)]
        except WrongArguments as error:
            return f"{READ_ALL.name}: {error}"

        def reply(messages: Sequence[Message], tokens: int) -> str:
            return draft.reply(model, messages, tokens, self._work)

        groups = list(groups_of(parts, model, self._writer.budgets.context))
        result = yield from read_all(draft.box, draft.ledger, groups, given.get("about", ""), reply)
        self._ends = time.monotonic() + self._writer.budgets.seconds
        return result

    def _evidence(self, call: ToolCall) -> str:
        """Look up what the model hands over; return the reply, which numbers what was found."""
        ledger = self._draft.ledger
        given = _object(call.arguments)
        items = given.get("items")
        ledger.verdict = verdict_of(given.get("verdict")) or VERDICTS[0]
        replies = []
        for item in items if isinstance(items, list) else []:
            passage, text = (item.get("passage"), item.get("text")) if isinstance(item, dict) else (0, item)
            if not isinstance(text, str) or not text.strip():
                continue
            number = len(ledger.items) + 1
            found = ledger.offer(number, passage if isinstance(passage, int) else 0, text)
            if found is not None:
                replies.append(f"[{number}] found in passage {self._draft.box.passages.index(found.passage) + 1}")
                continue
            near = ledger.nearest(text, self._found.asked.language, passage if isinstance(passage, int) else 0)
            nearest = f" The nearest source words: {harmless(near.text)}" if near else ""
            replies.append(f"NOT FOUND, not numbered: {json.dumps(text[:SHOWN], ensure_ascii=False)}.{nearest}")
        return "\n".join(replies) or "No evidence. Write the answer."

    def _without_tools(self, model: ChatModel, before: Sequence[Message]) -> Writing:
        """Ask for further searches, then for evidence and answer in lines."""
        draft, box = self._draft, self._draft.box
        listed = box.call(ToolCall("", "list_documents", "{}"))
        planning = planning_messages(self._found.asked.message, listed, before, self._known)
        plan = _object(draft.reply(model, planning, PLAN_TOKENS, self._work))
        question, searches = plan.get("question"), plan.get("searches")
        if isinstance(question, str) and 0 < len(question) <= LONGEST_QUESTION and "\n" not in question:
            draft.question = question
        wanted = searches if isinstance(searches, list) else []
        queries = [each for each in wanted if isinstance(each, str) and each.strip()][:MOST_SEARCHES]
        if self._history and draft.question:
            queries = [draft.question, *queries][:MOST_SEARCHES]
        if queries:
            call = ToolCall("", "search", json.dumps({"queries": queries}, ensure_ascii=False))
            yield AnswerEvent(step=_asked(call))
            draft.steps += (_asked(call),)
            others = (box.found_by(query, self._found.asked.where) for query in queries)
            # Of all searches in turn, as many passages as one search would show.
            draft.fill(list(interleaved([self._found.results, *others])))
        self._compute()
        names = plan.get("whole")
        if isinstance(names, list) and names:
            arguments = {"documents": names, "about": (draft.question or self._found.asked.message)[:LONGEST_QUESTION]}
            shown = yield from self._called(ToolCall("", READ_ALL.name, json.dumps(arguments)))
        is_whole = bool(draft.ledger.items)
        if not is_whole:
            shown = self._shown()
        messages = writing_messages(self._found.asked, shown, before, self._known)
        # What was read of whole documents is evidence already.
        lines = Lines((lambda *_: None) if is_whole else draft.ledger.offer)
        with closing(model.stream(messages, self._writer.budgets.answer)) as deltas:
            for delta in deltas:
                self._receive(delta)
                yield from draft.prose.take(lines.take(delta.text))
        rest = lines.end()
        draft.ledger.verdict = lines.verdict or draft.ledger.verdict
        yield from draft.prose.take(rest)
        yield from draft.prose.end()

    def _compute(self) -> None:
        """Add what is computed without a model for the question, since this model can't compute."""
        answer = self._parts.figures().figure(self._found, self._parts.answering.tables, self._work).answer
        if answer and answer.answered:
            self._draft.box.add_computed(computed_passage(answer))

    def _shown(self) -> str:
        return self._draft.box.shown(range(1, len(self._draft.box.passages) + 1))

    def _written(self, deltas: Any) -> Writing:
        for delta in deltas:
            self._receive(delta)
            yield from self._draft.prose.take(delta.text)
        yield from self._draft.prose.end()

    def _receive(self, delta: Delta) -> None:
        self._work.check()
        self._draft.spend(delta.usage)
        self.is_truncated = self.is_truncated or delta.truncated


_MARKS = re.compile(r"\[\d{1,3}\]")
_JSON = re.compile(r"\{.*\}", re.DOTALL)


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in a reply; {} if there is none."""
    found = _JSON.search(text)
    try:
        read = json.loads(found[0]) if found else {}
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _asked(call: ToolCall) -> Step:
    arguments = _object(call.arguments)
    given = "; ".join(f"{name}: {_said(value)}" for name, value in arguments.items() if name != "items")
    return Step.of(call.name[:SHOWN], {"asked": given[:SHOWN]})


def _said(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
