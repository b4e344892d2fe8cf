"""A message → the answer that the book gives: a model's, of which only what the passages back is kept, or quotes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache

from answerable.analysis import question_language
from answerable.answering import check_answer, clean_output
from answerable.build import build_answerer, build_chat_model, build_reader, build_splitter
from answerable.datatypes import Answer, Document, DocumentType, Exchange
from answerable.library import Library
from answerable.protocols import Answerer, ChatModel, Evidence
from answerable.settings import Settings as EngineSettings
from answerable.stores import MemoryStore
from src.collection import Collected
from src.embedding import local, open_embedder
from src.errors import OpenAIAPIError, openai_errors
from src.passages import Passage
from src.qdrant import open_qdrant
from src.services.book import Book, shelf
from src.services.prompt import messages, refusal, remembered
from src.services.rag_service import retrieve_relevant_context
from src.settings import Settings


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, the places of the passages that it was looked for in, and the question that found them."""

    text: str
    sources: tuple[str, ...]
    searched: str


async def answer(settings: Settings, message: str, selected: str, history: Sequence[Exchange]) -> Reply:
    """What the book says to a message, after these exchanges and about a selected text (empty: none).

    Where nothing answers a message, what it leaves to the exchanges before is filled in and searched for.
    Raises OpenAIAPIError, QdrantOperationError and SettingsError.
    """
    # Passages are judged on this machine, sentence by sentence, whoever embedded them for the search. A selected text
    # is reason enough to answer.
    judge = await asyncio.to_thread(_judge, local(settings.engine), not selected)
    questions = dict.fromkeys((message, judge.standalone(message, history)[0]))
    reply = Reply(refusal(question_language(message)), (), message)
    for question in questions:
        found = await retrieve_relevant_context(question, selected_text_hint=selected or None)
        passages = [Passage.of(each) for each in found]
        if not passages:
            break
        sources = tuple(dict.fromkeys(passage.label for passage in passages))
        quoted, evidence = await asyncio.to_thread(_weighed, settings, judge, question, passages)
        reply = Reply(refusal(evidence.language), sources, question)
        if quoted.answered and settings.is_extractive:
            return replace(reply, text=_quotes(quoted))
        if quoted.answered:
            written = await asyncio.to_thread(_written, settings.engine, message, selected, passages, history, evidence)
            return replace(reply, text=written or reply.text)
    return reply


@cache
def _judge(settings: EngineSettings, may_refuse: bool) -> Answerer:
    """What quotes passages, or refuses where they don't answer."""
    return build_answerer(replace(settings, refuse=settings.refuse and may_refuse), open_embedder(settings).fingerprint)


def _weighed(
    settings: Settings, judge: Answerer, question: str, passages: Sequence[Passage]
) -> tuple[Answer, Evidence]:
    """The quotes that answer, or a refusal; and what they were chosen from."""
    with open_qdrant(settings.qdrant) as opened:
        book = shelf(settings.qdrant).book(Collected(opened))
    evidence = _evidence(local(settings.engine), judge, book, question, passages)
    (*_, last) = judge.stream(evidence, ())
    assert last.answer is not None
    return last.answer, evidence


def _evidence(
    settings: EngineSettings, judge: Answerer, book: Book, question: str, passages: Sequence[Passage]
) -> Evidence:
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
    settings: EngineSettings,
    message: str,
    selected: str,
    passages: Sequence[Passage],
    history: Sequence[Exchange],
    evidence: Evidence,
) -> str:
    """What the model says, less what the passages don't back; empty where nothing is left."""
    with openai_errors():
        model = _model(settings)
        before = remembered(history, model.count_tokens, settings.history_tokens)
        asked = messages(message, selected, passages, before, evidence.language)
        with closing(model.stream(asked, settings.answer_tokens)) as deltas:
            written = list(deltas)
    text = "".join(delta.text for delta in written)
    if not text.strip():
        raise OpenAIAPIError("The model wrote nothing. Try again, or raise ANSWERABLE_ANSWER_TOKENS.", retryable=True)
    cleaned = clean_output(text, evidence.results)
    languages = (question_language(cleaned), evidence.language, *(each.document.language for each in evidence.results))
    checked = check_answer(
        cleaned,
        evidence.results,
        next(filter(None, languages), "en"),
        marks=False,
        keep_unsupported=settings.keep_unsupported,
    )
    # The last piece says whether the model was stopped at its limit.
    end = " […]" if written[-1].truncated else ""
    return f"{checked.text}{end}" if checked.citations else ""


@cache
def _model(settings: EngineSettings) -> ChatModel:
    return build_chat_model(settings)


def _quotes(answer: Answer) -> str:
    """An answer of quotes, each with its place instead of a number."""
    text = answer.text
    for number, citation in enumerate(answer.citations, 1):
        text = text.replace(f"” [{number}]", f"” ({citation.title})")
    return text
