"""Addresses and names → a library. The only place that knows which adapters there are.

Each is imported where it is built: importing the package, and `answerable --help`, load none of them.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from answerable.datatypes import Document
from answerable.errors import MissingPackage, ProviderError, SettingsError
from answerable.library import Library
from answerable.protocols import (
    Answerer,
    ChatModel,
    Embedder,
    Fingerprint,
    Reader,
    Reranker,
    Store,
    TextSplitter,
    TokenEmbedder,
    Visit,
)
from answerable.reading import FileContents, ReadsAhead, SourceFile, SourceListing
from answerable.retrieval.retriever import Steps
from answerable.settings import Settings, load_settings
from answerable.work import Tools, Workers

if TYPE_CHECKING:
    from answerable.answering.gate import Gate
    from answerable.crew import Crew
    from answerable.embedding.local import LocalEmbedder
    from answerable.ingestion import AddReport, OnProgress
    from answerable.sources.reader import FileReader
    from answerable.stores.copying import CopyReport, OnCopied

MEMORY = ":memory:"
EXTRACTIVE = "extractive"


def open(address: str | os.PathLike[str] | None = None, create: bool = True, **settings: Any) -> Library:
    """The library at an address: a folder, or `:memory:`; by default the user's own.

    It is made where there is none, unless `create` is false: then LibraryNotFound is raised. `settings` are those of
    `Settings`; environment and `answerable.toml` give the rest. Raises SettingsError and LibraryError.
    """
    if address is not None:
        settings["library"] = os.fspath(address)
    return build_library(load_settings(settings), create)


def read(path: str | os.PathLike[str], **settings: Any) -> list[Document]:
    """The documents at a path, a file, a folder or a site, without adding them anywhere. Raises SourceError.

    Of a site, pages that can't be read are left out.
    """
    source = os.fspath(path)
    with closing(build_reader(load_settings(settings))) as reader:
        if not _is_site(source):
            return [document for item in reader.listing(source).items for document in item.read()]
        with closing(reader.visit(source)) as visit, closing(visit.items({})) as pages:
            return [document for page in pages for document in page.documents]


def build_library(settings: Settings, create: bool = True, root: Path | None = None) -> Library:
    """The library that the settings describe. Files under `root` have their names in there as sources."""
    store = build_store(settings.library_address, create, settings.qdrant_api_key)
    try:
        embedder = build_embedder(settings, store.fingerprint)
        crew = build_crew(settings, embedder)
        return Library(
            store=store,
            embedder=embedder,
            splitter=build_splitter(settings),
            reader=build_reader(settings, root, crew),
            answerer=build_answerer(settings, embedder.fingerprint),
            narrows=settings.narrow,
            steps=Steps(build_reranker(settings, embedder)),
            crew=crew,
        )
    except BaseException:
        store.close()
        raise


def build_crew(settings: Settings, embedder: Embedder) -> Crew | None:
    """The workers that the settings ask for, whose vectors are this embedder's; None where this process does all."""
    if settings.workers == 1 and not settings.ray:
        return None
    from answerable.crew import Crew

    return Crew(partial(_hire, settings, embedder))


def _hire(settings: Settings, embedder: Embedder) -> Workers:
    # Where the embedder is one of two, the workers must use the one that was chosen here.
    bound = embedder.fingerprint
    if settings.ray:
        try:
            from answerable.parallel.ray_cluster import ray_cluster
        except ImportError as error:
            raise MissingPackage("A Ray cluster needs the package ray: pip install 'answerable[ray]'") from error
        count = settings.workers if settings.workers > 1 else 0
        make_tools = partial(build_tools, _of_worker(settings, settings.threads or 1), bound)
        return ray_cluster(settings.ray, count, make_tools)
    from answerable.parallel.processes import processes

    threads = settings.threads or max((os.cpu_count() or 1) // settings.workers, 1)
    return processes(settings.workers, partial(build_tools, _of_worker(settings, threads), bound))


def _of_worker(settings: Settings, threads: int) -> Settings:
    """What a worker needs: nothing that opens the library."""
    return replace(settings, library=MEMORY, qdrant_api_key="", workers=1, ray="", threads=threads)


def build_tools(settings: Settings, bound: Fingerprint | None = None) -> Tools:
    """What a worker reads, splits and embeds with; `bound` is what made the vectors that are there already."""
    return Tools(build_reader(settings), build_splitter(settings), build_embedder(settings, bound))


def build_store(address: str, create: bool = True, qdrant_api_key: str = "") -> Store:
    """The store at an address. The key is for addresses of a Qdrant server, which hold none."""
    if address == MEMORY:
        from answerable.stores.memory import MemoryStore

        return MemoryStore()
    from answerable.stores.postgres_address import is_postgres

    if is_postgres(address):
        from answerable.stores.postgres import PostgresStore

        return PostgresStore(address, create)
    from answerable.stores.qdrant_address import is_qdrant

    if is_qdrant(address):
        from answerable.stores.qdrant import QdrantStore

        return QdrantStore(address, create, qdrant_api_key)
    if "://" in address:
        scheme, _, rest = address.partition("://")
        # What stands before an @ may hold a password.
        raise SettingsError(
            f"There is no store for {scheme}://{rest.rpartition('@')[2]}. A library is a folder, "
            f"postgresql://USER:PASSWORD@HOST/DATABASE, qdrant+http://HOST/NAME, or {MEMORY} for this process only."
        )
    from answerable.stores.embedded import EmbeddedStore

    folder = Path(os.path.expanduser(address))
    store = EmbeddedStore(folder, create)
    _hide(folder)
    return store


def without_password(address: str) -> str:
    """A library's address as it may be shown."""
    from answerable.stores.postgres_address import shown
    from answerable.stores.qdrant_address import is_qdrant, parse_address

    return parse_address(address).shown if is_qdrant(address) else shown(address)


def copy_library(source: str, target: str, on_progress: OnCopied | None = None, qdrant_api_key: str = "") -> CopyReport:
    """Copies a library to another address without embedding again; the same call again does what is missing.

    The key is for either address that is a Qdrant server's. Raises LibraryNotFound, EmbedderMismatch and LibraryError.
    """
    from answerable.stores.copying import copy_store

    with (
        closing(build_store(source, False, qdrant_api_key)) as copied,
        closing(build_store(target, True, qdrant_api_key)) as made,
    ):
        return copy_store(copied, made, on_progress)


def import_collection(
    address: str, settings: Settings, on_progress: OnProgress | None = None, dry_run: bool = False
) -> AddReport:
    """Adds a collection that LangChain's PGVector keeps, with its vectors: nothing is embedded.

    Its vectors are taken for those of OpenAI's text-embedding-3-small, or of the embedder that the settings name.
    Raises SourceError, and EmbedderMismatch where the library's vectors come from another model.
    """
    from answerable.ingestion import Ingestion
    from answerable.sources.langchain import LangChainCollection

    provider, _, model = settings.embedder.partition(":")
    made_by = (provider, model) if model else ("openai", settings.openai_embedding_model)
    library = MEMORY if dry_run else settings.library_address
    with (
        closing(LangChainCollection(address, *made_by)) as found,
        closing(build_store(library, True, settings.qdrant_api_key)) as store,
    ):
        return Ingestion(store, found, found, len(found.sources), on_progress, dry_run).run(found.documents())


def build_embedder(settings: Settings, bound: Fingerprint | None = None) -> Embedder:
    """The embedder with its cache: `provider:model`, or `provider:model,local`, local where the provider fails.

    `bound` is what made the vectors that are there already. Raises SettingsError.
    """
    from answerable.embedding.cache import CachedEmbedder

    first, _, second = (part.strip() for part in settings.embedder.partition(","))
    embedder = _build_embedder(settings, first)
    if second:
        from answerable.embedding.fallback import FallbackEmbedder

        embedder = FallbackEmbedder(embedder, _build_embedder(settings, second), _say_switched, bound)
    return CachedEmbedder(embedder, settings.cache_path / "embeddings.db", settings.cache_size)


def _build_embedder(settings: Settings, name: str) -> Embedder:
    from answerable.embedding.local import MODEL

    if name in ("local", f"local:{MODEL}"):
        return build_local_embedder(settings)
    from answerable.providers.calling import CallPolicy

    provider, _, model = name.partition(":")
    policy = CallPolicy(timeout=settings.provider_timeout)
    if provider == "sentence-transformers":
        from answerable.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(
            model or "intfloat/multilingual-e5-small", allow_downloads=settings.allow_downloads
        )
    if provider == "cohere":
        from answerable.embedding.cohere_embedder import CohereEmbedder

        _require_key(settings, provider)
        return CohereEmbedder(
            settings.cohere_api_key,
            model or "embed-multilingual-v3.0",
            settings.embedding_dimension or 1024,
            settings.cohere_base_url or None,
            policy,
        )
    endpoint = _openai_endpoint(settings, provider)
    if endpoint is None or not (model or endpoint.embedding_model):
        raise SettingsError(
            f"There is no embedder {name!r}. Use local, openai:NAME, github:NAME, ollama:NAME, cohere:NAME or "
            "sentence-transformers:NAME."
        )
    from answerable.embedding.openai_embedder import OpenAIEmbedder

    _require_key(settings, provider)
    return OpenAIEmbedder(
        model or endpoint.embedding_model,
        settings.embedding_dimension or 1536,
        endpoint.api_key,
        endpoint.base_url,
        policy,
        provider,
    )


def _say_switched(error: ProviderError) -> None:
    logging.getLogger("answerable").warning("%s The local model embeds instead.", error)


def build_local_embedder(settings: Settings) -> LocalEmbedder:
    """The embedder that runs on this machine, without a cache."""
    from answerable.embedding.local import LocalEmbedder

    return LocalEmbedder(settings.threads, settings.cache_path / "models", settings.local_runtime)


def build_reader(settings: Settings, root: Path | None = None, ahead: ReadsAhead | None = None) -> Reader:
    """The reader of files, folders and sites; files under `root` have their names in there as sources.

    What it needs is loaded when something is read, not for a question.
    """
    return _LateReader(settings, root, ahead)


class _LateReader:
    def __init__(self, settings: Settings, root: Path | None, ahead: ReadsAhead | None) -> None:
        self._settings = settings
        self._root = root
        self._ahead = ahead
        self._readers: dict[str, FileReader] = {}

    def listing(self, source: str) -> SourceListing:
        return self._files(self._settings.ocr_languages).listing(source)

    def read(self, file: SourceFile) -> FileContents:
        return self._files(file.languages).read(file)

    def options(self, source: str) -> Mapping[str, str]:
        settings = self._settings
        options = {"ocr": settings.ocr_languages}
        if _is_site(source):
            options |= {
                "address": source,
                "locales": settings.site_locales,
                "versions": settings.site_versions,
                "everything": "yes" * settings.site_everything,
                "max_pages": str(settings.max_pages),
                "public_url": settings.site_public_url,
            }
        return {name: value for name, value in options.items() if value}

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        options = self.options(source) if options is None else options
        files = self._files(options.get("ocr", self._settings.ocr_languages))
        if not _is_site(source):
            return files.visit(source, checksum=checksum)
        from answerable.sources.site import SiteOptions, SiteVisit
        from answerable.sources.site_addresses import AddressGuard
        from answerable.sources.site_fetch import Fetcher
        from answerable.sources.site_pace import FetchPolicy

        guard = AddressGuard(_listed(self._settings.allow_hosts))
        wanted = SiteOptions(
            _listed(options.get("locales", "")),
            _listed(options.get("versions", "")),
            bool(options.get("everything")),
            int(options.get("max_pages", self._settings.max_pages)),
            options.get("public_url", ""),
        )
        policy = FetchPolicy(delay=1 / self._settings.requests_per_second)
        return SiteVisit(options.get("address", source), Fetcher(guard, policy), wanted, read=files.read_bytes)

    def _files(self, languages: str) -> FileReader:
        if languages not in self._readers:
            from answerable.sources.limits import ReadLimits
            from answerable.sources.pdf_ocr import find_ocr
            from answerable.sources.reader import FileReader

            settings = self._settings
            limits = ReadLimits(settings.max_file_size, settings.max_pdf_seconds, settings.max_pdf_memory)
            self._readers[languages] = FileReader(
                limits, settings.pdf_password or None, find_ocr(languages), self._root, self._ahead
            )
        return self._readers[languages]

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()


def _is_site(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def _listed(text: str) -> tuple[str, ...]:
    """What a setting lists, with commas between."""
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def build_splitter(settings: Settings) -> TextSplitter:
    """What cuts documents into passages."""
    if settings.splitter == "tokens":
        from answerable.splitting.tokens import TokenSplitter

        try:
            return TokenSplitter(settings.token_vocabulary, settings.chunk_size, settings.chunk_overlap)
        except ValueError as error:
            raise SettingsError(str(error)) from error
    from answerable.splitting.by_type import SplitterByType

    return SplitterByType(settings.chunk_size, settings.chunk_overlap)


def build_reranker(settings: Settings, embedder: Embedder) -> Reranker | None:
    """What looks at the best passages a second time, by this embedder's own means; None where that is off."""
    if not settings.rerank:
        return None
    from answerable.embedding.cache import CachedEmbedder
    from answerable.retrieval.late_interaction import LateInteraction

    maker = embedder.inner if isinstance(embedder, CachedEmbedder) else embedder
    if not isinstance(maker, TokenEmbedder):
        raise SettingsError(
            f"rerank is {settings.rerank}, but {embedder.fingerprint} gives no vectors of single tokens. "
            "Set embedder to local for a new library, or leave rerank empty."
        )
    return LateInteraction(maker)


def build_answerer(settings: Settings, fingerprint: Fingerprint) -> Answerer:
    """What turns evidence into an answer; `fingerprint` is of the embedder whose vectors it judges by."""
    gate = build_gate(settings, fingerprint)[0] if settings.refuse else None
    if settings.model == EXTRACTIVE:
        from answerable.answering.extractive import ExtractiveAnswerer

        return ExtractiveAnswerer(gate, settings.quotes)
    from answerable.answering.grounded import Budgets, GroundedAnswerer

    budgets = Budgets(settings.context_tokens, settings.history_tokens, settings.answer_tokens)
    return GroundedAnswerer(build_chat_model(settings), gate, settings.quotes, budgets, settings.keep_unsupported)


def build_chat_model(settings: Settings) -> ChatModel:
    """The model that writes: `provider:model`, or a provider with its usual model. Raises SettingsError."""
    from answerable.providers.calling import CallPolicy

    provider, _, name = settings.model.partition(":")
    policy = CallPolicy(timeout=settings.provider_timeout)
    _require_key(settings, provider)
    if provider == "cohere":
        from answerable.answering.models.cohere_chat import CohereChatModel

        return CohereChatModel(
            name or "command-a-03-2025", settings.cohere_api_key, settings.cohere_base_url or None, policy
        )
    endpoint = _openai_endpoint(settings, provider)
    if endpoint is None or not (name or endpoint.chat_model):
        raise SettingsError(
            f"There is no model {settings.model!r}. Use {EXTRACTIVE}, or openai:NAME, ollama:NAME, github:NAME or "
            "cohere:NAME."
        )
    from answerable.answering.models.openai_chat import OpenAIChatModel

    return OpenAIChatModel(
        name or endpoint.chat_model, endpoint.api_key, endpoint.base_url, policy=policy, provider=provider
    )


def _require_key(settings: Settings, provider: str) -> None:
    """Raises SettingsError where a provider can't be asked without a key and there is none."""
    needed = {
        "openai": ("OPENAI_API_KEY", settings.openai_api_key or settings.openai_base_url),
        "github": ("GITHUB_TOKEN", settings.github_token),
        "cohere": ("COHERE_API_KEY", settings.cohere_api_key),
    }
    variable, given = needed.get(provider, ("", provider))
    if not given:
        raise SettingsError(f"{provider} needs a key. Set the environment variable {variable}.")


class _Endpoint(NamedTuple):
    """A server that speaks the OpenAI protocol, and its usual models."""

    api_key: str
    base_url: str | None
    chat_model: str = ""
    embedding_model: str = ""


def _openai_endpoint(settings: Settings, provider: str) -> _Endpoint | None:
    endpoints = {
        "openai": _Endpoint(
            settings.openai_api_key,
            settings.openai_base_url or None,
            settings.openai_chat_model,
            settings.openai_embedding_model,
        ),
        "ollama": _Endpoint("", settings.ollama_base_url),
        "github": _Endpoint(
            settings.github_token,
            settings.github_base_url,
            "openai/gpt-4o-mini",
            f"openai/{settings.openai_embedding_model}",
        ),
    }
    return endpoints.get(provider)


def build_gate(settings: Settings, fingerprint: Fingerprint) -> tuple[Gate, str]:
    """What decides on refusals with this embedder, and where it comes from: your own, the package's, or words only."""
    from answerable.answering.gate import LEXICAL_ONLY, Gate, packaged_gates

    path = gate_path(settings, fingerprint)
    packaged = packaged_gates()
    name = f"{fingerprint.provider}:{fingerprint.model}"
    try:
        gate, origin = Gate.from_json(json.loads(path.read_text("utf-8"))), str(path)
    except FileNotFoundError:
        gate = packaged.get(name) or packaged[LEXICAL_ONLY]
        origin = (
            "the package's" if name in packaged else "words only: `answerable calibrate` fits one for this embedder"
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"{path} can't be read ({error!r}). Run `answerable calibrate` again, or delete it."
        ) from error
    return gate.aiming_at(settings.wrong_answers), origin


def gate_path(settings: Settings, fingerprint: Fingerprint) -> Path:
    """Where a calibrated gate for an embedder is kept."""
    return settings.gates_path / f"{sha256(str(fingerprint).encode()).hexdigest()[:16]}.json"


def _hide(folder: Path) -> None:
    """Keeps a library's own files from being taken for documents when a folder around it is added."""
    with suppress(OSError), (folder / ".answerableignore").open("x") as file:
        file.write("/index/\n/index.*\n/library.db*\n")
