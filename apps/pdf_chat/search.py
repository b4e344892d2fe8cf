"""A question → the ten nearest chunks → the prompt → a model's answer, held against these chunks."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import overload

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_postgres import PGVector

from answerable.protocols import ChatModel, Message
from answerable.settings import Settings as EngineSettings
from answerable.wiring.build import build_chat_model
from pdf_chat.errors import (
    APIError,
    ConfigurationError,
    DatabaseError,
    ExternalServiceError,
    RAGError,
    explanation,
    translated,
    user_message,
)
from pdf_chat.grounding import checked, inert
from pdf_chat.settings import load
from pdf_chat.store import EMBEDDING_SETTING, open_store

__all__ = [
    "PROMPT_TEMPLATE",
    "APIError",
    "ConfigurationError",
    "DatabaseError",
    "ExternalServiceError",
    "RAGError",
    "build_context",
    "get_vector_store",
    "search_prompt",
]

PROMPT_TEMPLATE = """
CONTEXTO:
{contexto}

REGRAS:
- Responda somente com base no CONTEXTO.
- Se a informação não estiver explicitamente no CONTEXTO, responda:
  "Não tenho informações necessárias para responder sua pergunta."
- Nunca invente ou use conhecimento externo.
- Nunca produza opiniões ou interpretações além do que está escrito.

EXEMPLOS DE PERGUNTAS FORA DO CONTEXTO:
Pergunta: "Qual é a capital da França?"
Resposta: "Não tenho informações necessárias para responder sua pergunta."

Pergunta: "Quantos clientes temos em 2024?"
Resposta: "Não tenho informações necessárias para responder sua pergunta."

Pergunta: "Você acha isso bom ou ruim?"
Resposta: "Não tenho informações necessárias para responder sua pergunta."

PERGUNTA DO USUÁRIO:
{pergunta}

RESPONDA A "PERGUNTA DO USUÁRIO"
"""

REFUSAL = "Não tenho informações necessárias para responder sua pergunta."
# Models may quote the sentence that refuses.
_AROUND = " \n\"'“”«»*"
RESULTS = 10
CHAT_SETTING = "OPENAI_CHAT_MODEL"

_log = logging.getLogger("pdf_chat")


@overload
def search_prompt(question: str) -> str: ...


@overload
def search_prompt(question: None = None) -> Runnable[str, str] | None: ...


def search_prompt(question: str | None = None) -> str | Runnable[str, str] | None:
    """The answer to a question: what the collection says, or the sentence that refuses.

    Without a question: the chain, which takes one, or None where configuration or database don't allow it. Raises
    TypeError for a question that is no text, ValueError for an empty one, ConfigurationError, DatabaseError (a
    ConnectionError), ExternalServiceError.
    """
    if question is not None:
        return _answer(question)
    try:
        get_vector_store()
    except RAGError as error:
        _log.warning("%s %s", user_message(error), explanation(error))
        return None
    return RunnableLambda(_answer)


def get_vector_store() -> PGVector:
    """The collection, over connections that the whole process shares.

    Raises ConfigurationError and DatabaseError; whether the key is valid shows once something is embedded.
    """
    return open_store(load())


def build_context(results: list[tuple[Document, float]]) -> str:
    """The texts of the results in their order, with a blank line between them."""
    return "\n\n".join(document.page_content for document, _ in results)


def _answer(question: str) -> str:
    if not isinstance(question, str):
        raise TypeError(f"A pergunta deve ser um texto, e não {type(question).__name__}.")
    if not question.strip():
        raise ValueError("A pergunta está vazia.")
    settings = load()
    store = get_vector_store()
    with translated(EMBEDDING_SETTING):
        results = store.similarity_search_with_score(question, k=RESULTS)
    if not results:
        _log.warning("A coleção %s está vazia: execute python ingest.py.", settings.collection)
        return REFUSAL
    prompt = PROMPT_TEMPLATE.format(contexto=inert(build_context(results)), pergunta=inert(question.strip()))
    with translated(CHAT_SETTING):
        written, is_cut = _written(_model(settings.engine), prompt, settings.engine.answer_tokens)
    answer = checked(written, [document for document, _ in results])
    if written.strip(_AROUND) == REFUSAL:
        return REFUSAL
    if not settings.is_strict:
        for sentence in answer.unsupported:
            _log.warning("O PDF não confirma: %s", " ".join(sentence.split()))
    text = answer.supported if settings.is_strict else written.strip()
    return f"{text} […]" if text and is_cut else text or REFUSAL


def _written(model: ChatModel, prompt: str, max_tokens: int) -> tuple[str, bool]:
    """What the model writes, and whether it was stopped at its limit."""
    with closing(model.stream([Message("user", prompt)], max_tokens)) as deltas:
        pieces = list(deltas)
    text = "".join(piece.text for piece in pieces)
    if not text.strip():
        raise ExternalServiceError("o modelo não escreveu nada: tente de novo ou mude OPENAI_CHAT_MODEL")
    return text, pieces[-1].truncated


@cache
def _model(settings: EngineSettings) -> ChatModel:
    """One client for each configuration. The temperature is the model's own."""
    return build_chat_model(replace(settings, model=f"openai:{settings.openai_chat_model}"))
