"""The messages for a chat model: rules, earlier exchanges, passages, question; each within its token budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

from answerable.answering.phrases import REFUSAL
from answerable.answering.safety.fencing import fence, harmless
from answerable.datatypes import Exchange, RetrievalResult
from answerable.protocols import Message

_MARK = re.compile(r"\s*\[\d{1,3}\]")
_LABELS = {"en": ("Passages", "Question"), "es": ("Pasajes", "Pregunta"), "pt": ("Trechos", "Pergunta")}

CountTokens = Callable[[Sequence[str]], list[int]]


@cache
def prompt(name: str, language: str) -> str:
    """Return a prompt in a language, or in English; `{refusal}` is replaced by the text of a refusal."""
    spoken = language if language in _LABELS else "en"
    text = (files("answerable.answering") / "prompts" / f"{name}.{spoken}.txt").read_text("utf-8").strip()
    return text.replace("{refusal}", REFUSAL[spoken])


def fitting(results: Sequence[RetrievalResult], count_tokens: CountTokens, budget: int) -> tuple[RetrievalResult, ...]:
    """Return the best results that fit in the budget together; always at least the first."""
    kept: list[RetrievalResult] = []
    spent = 0
    for result, cost in zip(results, count_tokens([fence([result]) for result in results]), strict=True):
        if kept and spent + cost > budget:
            break
        kept.append(result)
        spent += cost
    return tuple(kept)


def remembered(history: Sequence[Exchange], count_tokens: CountTokens, budget: int) -> list[Message]:
    """Return the latest exchanges that fit in the budget, oldest first, without their citation marks."""
    found: list[Message] = []
    spent = 0
    for exchange in reversed(history):
        question, answer = exchange.question, harmless(_MARK.sub("", exchange.answer))
        spent += sum(count_tokens([question, answer]))
        if spent > budget:
            break
        found = [Message("user", question), Message("assistant", answer), *found]
    return found


def answering_messages(
    question: str, language: str, passages: Sequence[RetrievalResult], before: Sequence[Message]
) -> list[Message]:
    """Return the messages that ask for an answer."""
    of_passages, of_question = _LABELS.get(language, _LABELS["en"])
    asked = f"{of_passages}:\n\n{fence(passages)}\n\n{of_question}: {question}"
    return [Message("system", prompt("answer", language)), *before, Message("user", asked)]


def rewriting_messages(question: str, language: str, before: Sequence[Message]) -> list[Message]:
    """Return the messages that ask to rewrite the question so that it makes sense alone."""
    return [Message("system", prompt("rewrite", language)), *before, Message("user", question)]
