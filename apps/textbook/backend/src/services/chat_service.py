"""A message → the answer that the book gives: a model's, held against the passages it was given, or quotes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import chain

from answerable.answering import Answering, Found, check_answer, completed, quote_from
from answerable.datatypes import Answer, Document, DocumentType, Exchange, Reason
from answerable.library import Library
from answerable.protocols import ChatModel
from answerable.settings import Settings as EngineSettings
from answerable.stores import MemoryStore
from answerable.text import question_language
from answerable.wiring.build import build_answerer, build_chat_model, build_reader, build_splitter
from src.collection import Collected
from src.embedding import local, open_embedder
from src.errors import OpenAIAPIError, openai_errors
from src.passages import Passage
from src.qdrant import open_qdrant
from src.services.book import Book, shelf
from src.services.prompt import how_to_ask, is_refusal, messages, refusal, remembered
from src.services.rag_service import retrieve_relevant_context
from src.settings import Settings


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, the places of the passages that it was made from, and the question that found them.

    A refusal has no places. `unsupported` counts the sentences of the answer that the passages don't back.
    """

    text: str
    sources: tuple[str, ...]
    searched: str
    unsupported: int = 0


async def answer(settings: Settings, message: str, selected: str, history: Sequence[Exchange]) -> Reply:
    """What the book says to a message, after these exchanges and about a selected text (empty: none).

    Where nothing answers a message, what it leaves to the exchanges before is filled in and searched for. A model is
    asked whatever was found; where grounding is strict only if that answers, and only what it backs is kept. Without a
    model, or a strict one, a greeting gets a fixed sentence.
    Raises OpenAIAPIError, QdrantOperationError and SettingsError.
    """
    found = await _find(settings, message, selected, history)
    language = found.evidence.asked.language if found.evidence else question_language(message)
    sources = tuple(dict.fromkeys(passage.label for passage in found.passages))
    reply = Reply(refusal(language), (), found.question)
    quoted = found.quoted if found.quoted and found.quoted.answered else None
    if quoted and quoted.reason is Reason.SMALL_TALK and (settings.is_extractive or settings.is_strict):
        return replace(reply, text=how_to_ask(quoted.language))
    if settings.is_extractive:
        return replace(reply, text=_quotes(quoted), sources=sources) if quoted else reply
    if settings.is_strict and not quoted:
        return reply
    text, unsupported = await asyncio.to_thread(_written, settings, message, selected, found, history, language)
    if not text or is_refusal(text):
        return replace(reply, text=text or reply.text)
    return replace(reply, text=text, sources=sources, unsupported=unsupported)


@dataclass(frozen=True, slots=True)
class _Found:
    """The question that was searched for, what was found, and what it says to the question."""

    question: str
    passages: Sequence[Passage] = ()
    quoted: Answer | None = None
    evidence: Found | None = None


async def _find(settings: Settings, message: str, selected: str, history: Sequence[Exchange]) -> _Found:
    """What answers the message, or the message with what it leaves to those before; otherwise what came last."""
    # Passages are judged on this machine, sentence by sentence, whoever embedded them for the search. A selected text
    # is reason enough to answer.
    judge = await asyncio.to_thread(_judge, local(settings.engine), not selected)
    found = _Found(message)
    whole = completed(message, history, datetime.now())
    read: list[list[Passage]] = []
    for question in (message, *([whole.question] if whole else [])):
        retrieved = await retrieve_relevant_context(question, selected_text_hint=selected or None)
        read.append([Passage.of(each) for each in retrieved])
        if not read[-1]:
            break
        if found.quoted and found.quoted.answered:
            # A request to go on ("give an example") may be answered by anything: the model gets both.
            in_turn = dict.fromkeys(chain.from_iterable(zip(read[1], read[0], strict=False)))
            return replace(found, passages=list(in_turn)[: len(read[0])])
        quoted, evidence = await asyncio.to_thread(_weighed, settings, judge, question, read[-1])
        found = _Found(question, read[-1], quoted, evidence)
    return found


@cache
def _judge(settings: EngineSettings, may_refuse: bool) -> Answering:
    """What quotes passages, or refuses where they don't answer."""
    return build_answerer(replace(settings, refuse=settings.refuse and may_refuse), open_embedder(settings).fingerprint)


def _weighed(settings: Settings, judge: Answering, question: str, passages: Sequence[Passage]) -> tuple[Answer, Found]:
    """The quotes that answer, or a refusal; and what they were chosen from."""
    with open_qdrant(settings.qdrant) as opened:
        book = shelf(settings.qdrant).book(Collected(opened))
    evidence = _evidence(local(settings.engine), judge, book, question, passages)
    return quote_from(evidence, judge), evidence


def _evidence(
    settings: EngineSettings, judge: Answering, book: Book, question: str, passages: Sequence[Passage]
) -> Found:
    """The passages as the engine looks at them: a library of their own, with the rarities of words in the book."""
    library = Library(MemoryStore(), open_embedder(settings), build_splitter(settings), build_reader(settings), judge)
    library.add_documents(
        Document(
            id=str(number),
            content=passage.text,
            title=passage.label,
            type=DocumentType.MARKDOWN,
            language=book.languages.get(passage.source, ""),
        )
        for number, passage in enumerate(passages)
    )
    evidence = library.evidence(question)
    return replace(evidence, word_weights=book.weights(evidence.word_weights))


def _written(
    settings: Settings, message: str, selected: str, found: _Found, history: Sequence[Exchange], language: str
) -> tuple[str, int]:
    """What the model says, and how many sentences of it the passages don't back; these are left out where it's strict.

    Empty where nothing is left.
    """
    engine = settings.engine
    with openai_errors():
        model = _model(engine)
        before = remembered(history, model.count_tokens, engine.history_tokens)
        asked = messages(message, selected, found.passages, before, language)
        with closing(model.stream(asked, engine.answer_tokens)) as deltas:
            written = list(deltas)
    text = "".join(delta.text for delta in written).strip()
    if not text:
        raise OpenAIAPIError("The model wrote nothing. Try again, or raise ANSWERABLE_ANSWER_TOKENS.", retryable=True)
    results = found.evidence.results if found.evidence else ()
    languages = (question_language(text), language, *(each.document.language for each in results))
    spoken = next(filter(None, languages), "en")
    checked = check_answer(text, results, spoken, marks=False)
    # The last piece says whether the model was stopped at its limit.
    end = " […]" if written[-1].truncated else ""
    if settings.is_strict:
        return f"{checked.text}{end}" if checked.citations else "", 0
    return f"{text}{end}", len(checked.removed)


@cache
def _model(settings: EngineSettings) -> ChatModel:
    return build_chat_model(settings)


def _quotes(answer: Answer) -> str:
    """An answer of quotes, each with its place instead of a number."""
    text = answer.text
    for number, citation in enumerate(answer.citations, 1):
        text = text.replace(f"” [{number}]", f"” ({citation.title})")
    return text
