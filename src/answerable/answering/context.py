"""What a chat model is given: the rules, the exchanges before, the passages, the question; each within its budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

from answerable.answering.messages import REFUSAL
from answerable.answering.safety.fencing import fence
from answerable.datatypes import Exchange, RetrievalResult
from answerable.protocols import Message

_MARK = re.compile(r"\s*\[\d{1,3}\]")
_LABELS = {"en": ("Passages", "Question"), "es": ("Pasajes", "Pregunta"), "pt": ("Trechos", "Pergunta")}

CountTokens = Callable[[Sequence[str]], list[int]]


@cache
def prompt(name: str, language: str) -> str:
    """A prompt's text, in English where the language isn't spoken; `{refusal}` is filled in."""
    spoken = language if language in _LABELS else "en"
    text = (files("answerable.answering") / "prompts" / f"{name}.{spoken}.txt").read_text("utf-8").strip()
    return text.replace("{refusal}", REFUSAL[spoken])


def fitting(results: Sequence[RetrievalResult], count_tokens: CountTokens, budget: int) -> tuple[RetrievalResult, ...]:
    """The best results whose passages fit in the budget together, in order; the first one always does."""
    kept: list[RetrievalResult] = []
    spent = 0
    for result, cost in zip(results, count_tokens([fence([result]) for result in results]), strict=True):
        if kept and spent + cost > budget:
            break
        kept.append(result)
        spent += cost
    return tuple(kept)


def remembered(history: Sequence[Exchange], count_tokens: CountTokens, budget: int) -> list[Message]:
    """The last exchanges that fit in the budget, oldest first, without their marks: those number other passages."""
    found: list[Message] = []
    spent = 0
    for exchange in reversed(history):
        question, answer = exchange.question, _MARK.sub("", exchange.answer)
        spent += sum(count_tokens([question, answer]))
        if spent > budget:
            break
        found = [Message("user", question), Message("assistant", answer), *found]
    return found


def answering_messages(
    question: str, language: str, passages: Sequence[RetrievalResult], before: Sequence[Message]
) -> list[Message]:
    """The messages that ask for an answer."""
    of_passages, of_question = _LABELS.get(language, _LABELS["en"])
    asked = f"{of_passages}:\n\n{fence(passages)}\n\n{of_question}: {question}"
    return [Message("system", prompt("answer", language)), *before, Message("user", asked)]


def rewriting_messages(question: str, language: str, before: Sequence[Message]) -> list[Message]:
    """The messages that ask for a question that stands alone."""
    return [Message("system", prompt("rewrite", language)), *before, Message("user", question)]
