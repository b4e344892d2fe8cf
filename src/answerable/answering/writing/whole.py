"""Read whole documents, however long, for a summary or a comparison: part by part, a call to the model for each group.

Each call hands over the source words of its group. The answer is then written from these words, not from summaries of
summaries, so that each of its sentences has a source like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from answerable.answering.found import place_of
from answerable.answering.prompt import collecting_messages, fence, harmless, on_one_line
from answerable.answering.writing.lines import evidence_of
from answerable.datatypes import AnswerEvent, RetrievalResult, Step
from answerable.protocols import ChatModel, Message, Tool

if TYPE_CHECKING:
    from answerable.answering.writing.prose import Ledger
    from answerable.answering.writing.tools import Toolbox

MOST_GROUPS = 60
"""Groups that are read for one answer; with 4,000 tokens each, some 280 pages. A guess, not measured."""
REPLY_TOKENS = 1500
"""Tokens of the source words of a group: a third of what it has. A guess, not measured."""

READ_ALL = Tool(
    "read_all",
    "Read all of one or more documents, however long, and collect their source words about something as evidence. "
    "For a summary, a comparison, what was decided, or what changed. Slow: use it where reading a few parts won't do.",
    {
        "type": "object",
        "properties": {
            "documents": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 20}},
            "about": {"type": "string", "maxLength": 400, "description": "What to collect; empty for a summary."},
        },
        "required": ["documents"],
        "additionalProperties": False,
    },
)


Reply = Callable[[Sequence[Message], int], str]
"""Returns the model's whole reply to messages, of at most this many tokens."""


def read_all(
    box: Toolbox, ledger: Ledger, groups: Sequence[Sequence[RetrievalResult]], about: str, reply: Reply
) -> Generator[AnswerEvent, None, str]:
    """Yield a step for each group of parts; return the result for the model. Raise what `reply` raises."""
    first, read = len(ledger.items), 0
    for done, group in enumerate(islice(groups, MOST_GROUPS), 1):
        yield AnswerEvent(step=Step.of(READ_ALL.name, {"asked": f"{done} / {len(groups)}"}))
        collecting = collecting_messages(box.shown(box.add(group)), about)
        for line in reply(collecting, REPLY_TOKENS).splitlines():
            if given := evidence_of(line):
                ledger.offer(len(ledger.items) + 1, *given[1:])
        read += len(group)
    found = list(ledger.items.items())[first:]
    if found:
        ledger.verdict = ledger.verdict or "answer"
    lines = [
        f"Read {read} of {sum(map(len, groups))} parts; say so if it isn't all. "
        "Later documents may say otherwise: search for them. Evidence, for the answer:"
    ]
    lines += [
        f"[{number}] ({on_one_line(place_of(evidence.passage, 'en'))}) {harmless(evidence.text)}"
        for number, evidence in found
    ]
    return "\n".join(lines)


def groups_of(parts: Sequence[RetrievalResult], model: ChatModel, budget: int) -> Iterator[list[RetrievalResult]]:
    """Yield consecutive parts of one document that together fit in the budget, in tokens."""
    group: list[RetrievalResult] = []
    spent = 0
    for part, cost in zip(parts, model.count_tokens([fence([part]) for part in parts]), strict=True):
        if group and (spent + cost > budget or part.document.id != group[0].document.id):
            yield group
            group, spent = [], 0
        group.append(part)
        spent += cost
    if group:
        yield group
