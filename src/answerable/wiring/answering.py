"""Build the reranker, chat model, gate and answerer from the settings."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.errors import SettingsError
from answerable.protocols import (
    Answerer,
    AnswerReader,
    ChatModel,
    Embedder,
    Fingerprint,
    Reranker,
    TableReader,
    TokenEmbedder,
)
from answerable.settings import Settings, configuration_folder
from answerable.wiring.plugins import plugin_answerer
from answerable.wiring.providers import EXTRACTIVE, openai_endpoint, require_key

if TYPE_CHECKING:
    from answerable.answering.decide import Answering, Writer
    from answerable.answering.gate import Gate

READING = "+reader"
"""Suffix of the names of gates that expect a reader model's results."""


def build_reranker(settings: Settings, embedder: Embedder) -> Reranker | None:
    """Build the reranker, which uses this embedder's token vectors; None if reranking is off."""
    if not settings.rerank:
        return None
    from answerable.embedding.cache import CachedEmbedder
    from answerable.retrieval.late_interaction import LateInteraction

    maker = embedder.inner if isinstance(embedder, CachedEmbedder) else embedder
    if not isinstance(maker, TokenEmbedder):
        raise SettingsError(
            f"rerank is {settings.rerank}, but {embedder.fingerprint} has no token vectors. "
            "Set embedder to local for a new library, or leave rerank empty."
        )
    return LateInteraction(maker)


def build_answerer(
    settings: Settings, fingerprint: Fingerprint, own: Answering | Answerer | ChatModel | None = None
) -> Answering:
    """Build the parts that answer questions; `fingerprint` identifies the embedder and so selects the gate.

    `own` replaces the answerer or chat model that the setting `model` names.
    """
    from answerable.answering.decide import Answering

    if isinstance(own, Answering):
        return own
    gate = build_gate(settings, fingerprint)[0] if settings.refuse else None
    quoting = Answering(gate, build_answer_reader(settings), build_table_reader(settings), settings.quotes)
    if own is None and settings.model == EXTRACTIVE:
        return quoting
    return replace(quoting, writer=_build_writer(settings, own))


def _build_writer(settings: Settings, own: Answerer | ChatModel | None) -> Writer:
    from answerable.answering.decide import Budgets, Writer

    if settings.grounding not in ("marked", "strict"):
        raise SettingsError(f"grounding is {settings.grounding!r}. Set it to marked or strict.")
    budgets = Budgets(
        settings.context_tokens,
        settings.history_tokens,
        settings.answer_tokens,
        settings.tool_tokens,
        settings.answer_rounds,
        settings.answer_seconds,
    )
    model = own or _by_plugin(settings) or build_chat_model(settings)
    return Writer(model, budgets, settings.grounding == "strict", settings.check == "model")


def _by_plugin(settings: Settings) -> Answerer | ChatModel | None:
    provider = settings.model.partition(":")[0]
    is_built_in = provider == "cohere" or openai_endpoint(settings, provider) is not None
    return None if is_built_in else plugin_answerer(settings.model)


def build_answer_reader(settings: Settings) -> AnswerReader | None:
    """Return the reader model, which all libraries of this process share; None if no model reads passages."""
    return _readers(settings.threads, settings.cache_path / "models")[0] if is_reading(settings) else None


def build_table_reader(settings: Settings) -> TableReader | None:
    """Return the model that reads tables, which all libraries of this process share; None if no model reads."""
    return _readers(settings.threads, settings.cache_path / "models")[1] if is_reading(settings) else None


@lru_cache(maxsize=2)
def _readers(threads: int, folder: Path) -> tuple[AnswerReader, TableReader]:
    from answerable.e5.readers import E5Reader, E5TableReader

    return E5Reader(threads, folder), E5TableReader(threads, folder)


def is_reading(settings: Settings) -> bool:
    """Return whether a reader model reads passages: not if the setting is off or OpenVINO isn't installed."""
    return settings.reader != "off" and find_spec("openvino") is not None


def build_chat_model(settings: Settings, retries: int = 4) -> ChatModel:
    """Build the chat model named `provider:model`, or a provider's default model. Raise SettingsError."""
    from answerable.providers.calling import CallPolicy

    provider, _, name = settings.model.partition(":")
    policy = CallPolicy(settings.provider_timeout, retries=retries, concurrency=settings.provider_concurrency)
    require_key(settings, provider)
    if provider == "cohere":
        from answerable.providers.cohere import CohereChatModel

        base_url = settings.cohere_base_url or None
        return CohereChatModel(name or "command-a-03-2025", settings.cohere_api_key, base_url, policy)
    endpoint = openai_endpoint(settings, provider)
    if endpoint is None or not (name or endpoint.chat_model):
        raise SettingsError(
            f"There is no model {settings.model!r}. Use {EXTRACTIVE}, or openai:NAME, ollama:NAME, github:NAME, "
            "cohere:NAME, or the name of a plug-in (`answerable plugins`)."
        )
    from answerable.providers.openai import OpenAIChatModel

    return OpenAIChatModel(
        name or endpoint.chat_model, endpoint.api_key, endpoint.base_url, policy=policy, provider=provider
    )


def build_gate(settings: Settings, fingerprint: Fingerprint) -> tuple[Gate, str]:
    """Return the refusal gate for an embedder, and its origin: calibrated, packaged, or words only."""
    from answerable.answering.gate import LEXICAL_ONLY, Gate, packaged_gates

    path = gate_path(settings, fingerprint)
    suffix = READING if is_reading(settings) else ""
    packaged = packaged_gates()
    name = f"{fingerprint.provider}:{fingerprint.model}{suffix}"
    try:
        gate, origin = Gate.from_json(json.loads(path.read_text("utf-8"))), str(path)
    except FileNotFoundError:
        gate = packaged.get(name) or packaged[LEXICAL_ONLY + suffix]
        origin = (
            "the package's" if name in packaged else "words only: `answerable calibrate` fits one for this embedder"
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"{path} can't be read ({error!r}). Run `answerable calibrate` again, or delete it."
        ) from error
    return gate.aiming_at(settings.wrong_answers), origin


def gate_path(settings: Settings, fingerprint: Fingerprint) -> Path:
    """Return the path of an embedder's calibrated gate, with or without the reader model."""
    name = f"{fingerprint}{READING if is_reading(settings) else ''}"
    return configuration_folder() / "gates" / f"{sha256(name.encode()).hexdigest()[:16]}.json"
