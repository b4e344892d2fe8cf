"""Build the parts that plug-ins add, and describe all plug-ins. A built-in part is never replaced by a plug-in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from answerable.datatypes import Chunk, Document
from answerable.errors import AnswerableError, SettingsError
from answerable.plugins import ANSWERERS, EMBEDDERS, KINDS, SOURCES, SPLITTERS, STORES, Plugin, installed, named
from answerable.protocols import Answerer, ChatModel, CoreStore, Embedder, TextSplitter

READY, PARTLY, CLASH, FAILED = "ready", "partly", "clash", "failed"
_MODELS = frozenset(("openai", "github", "ollama", "cohere"))
_BUILT_IN = {
    EMBEDDERS: _MODELS | {"local", "onnx", "sentence-transformers"},
    STORES: frozenset(("postgres", "postgresql", "qdrant+http", "qdrant+https", "https", "http", "file")),
    ANSWERERS: _MODELS | {"extractive"},
}
# Methods and attributes by which to check that a plug-in made the right kind of object.
_NEEDED = {
    SPLITTERS: ("split",),
    EMBEDDERS: ("fingerprint", "embed_passages", "embed_query", "count_tokens", "cost"),
    STORES: ("fingerprint", "put", "remove", "document", "documents", "search_vectors", "search_terms", "fetch"),
}
_ANSWERER, _CHAT_MODEL = ("name", "write", "close"), ("name", "stream", "count_tokens", "close")


@dataclass(frozen=True, slots=True)
class PluginState:
    """A plug-in and whether it is used: `ready`, `partly`, `clash` or `failed`; `detail` says why."""

    plugin: Plugin
    state: str
    detail: str = ""


def plugin_embedder(name: str) -> Embedder | None:
    """Make the embedder NAME or NAME:MODEL; None if no plug-in has the name. Raise SettingsError."""
    provider, _, model = name.partition(":")
    plugin = named(EMBEDDERS, provider)
    return cast("Embedder", _made(plugin, model)) if plugin else None


def plugin_store(address: str, create: bool) -> CoreStore | None:
    """Make the store at an address; None if no plug-in has its scheme. Raise SettingsError and LibraryError."""
    plugin = named(STORES, address.partition("://")[0].lower())
    return cast("CoreStore", _made(plugin, address, create)) if plugin else None


def plugin_answerer(name: str) -> Answerer | ChatModel | None:
    """Make the answerer or chat model NAME or NAME:MODEL; None if no plug-in has the name. Raise SettingsError."""
    provider, _, model = name.partition(":")
    plugin = named(ANSWERERS, provider)
    if plugin is None:
        return None
    made = _called(plugin, model)
    if all(hasattr(made, each) for each in _CHAT_MODEL):
        return cast("ChatModel", made)
    _require(plugin, made, _ANSWERER)
    return cast("Answerer", made)


def plugin_splitters(chunk_size: int, chunk_overlap: int) -> Callable[[str], TextSplitter | None]:
    """Return a function that makes the splitter of a format or type and caches it; None if no plug-in has one."""
    known: dict[str, TextSplitter | None] = {}

    def splitter(name: str) -> TextSplitter | None:
        if name not in known:
            plugin = named(SPLITTERS, name)
            made = cast("TextSplitter", _made(plugin, chunk_size, chunk_overlap)) if plugin else None
            known[name] = _Watched(plugin, made) if plugin and made else None
        return known[name]

    return splitter


class _Watched:
    """A plug-in's splitter, checked: if it fails or makes invalid chunks, its document is split without it."""

    def __init__(self, plugin: Plugin, splitter: TextSplitter) -> None:
        self._plugin = plugin
        self._splitter = splitter

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks; none if the splitter failed."""
        try:
            chunks = self._splitter.split(document)
            if all(document.content[each.start : each.end] == each.content for each in chunks):
                return chunks
            problem = f"{self._plugin} made chunks that are no text of the document"
        except Exception as error:
            problem = self._plugin.failed("failed", error)
        name = document.source or document.title
        logging.getLogger("answerable").warning("%s: %s. It is split as text instead.", name, problem)
        return []


def _made(plugin: Plugin, *arguments: object) -> object:
    made = _called(plugin, *arguments)
    _require(plugin, made, _NEEDED[plugin.kind])
    return made


def _called(plugin: Plugin, *arguments: object) -> object:
    make = cast("Callable[..., Any]", plugin.load())
    try:
        return make(*arguments)
    except AnswerableError:
        raise
    except Exception as error:
        failed = plugin.failed("failed", error)
        raise SettingsError(f"{failed}: check its settings, or update or uninstall {plugin.package}") from error


def _require(plugin: Plugin, made: object, needed: tuple[str, ...]) -> None:
    missing = [name for name in needed if not hasattr(made, name)]
    if missing:
        raise SettingsError(
            f"{plugin} made a {type(made).__name__} without {', '.join(missing)}: update or uninstall {plugin.package}"
        )


def describe_plugins() -> list[PluginState]:
    """Return all installed plug-ins by kind, name and package. Import each of them."""
    return [state for kind in KINDS for state in (_formats() if kind == SOURCES else _factories(kind))]


def _formats() -> Iterator[PluginState]:
    from answerable.formats.registry import plugin_formats, suffixes

    taken = dict.fromkeys(suffixes(), "the built-in reader")
    for each in plugin_formats():
        if each.error:
            yield PluginState(each.plugin, FAILED, each.error)
            continue
        clashes = [f"{suffix} is read by {taken[suffix]}" for suffix in each.format.suffixes if suffix in taken]
        taken = {**dict.fromkeys(each.format.suffixes, str(each.plugin)), **taken}
        state = READY if not clashes else CLASH if len(clashes) == len(each.format.suffixes) else PARTLY
        yield PluginState(each.plugin, state, "; ".join(clashes) or " ".join(each.format.suffixes))


def _factories(kind: str) -> Iterator[PluginState]:
    taken = dict.fromkeys(_BUILT_IN.get(kind, ()), "built in")
    if kind == SPLITTERS:
        from answerable.splitting.by_type import SplitterByType

        taken = {str(each): "split by the built-in splitter" for each in SplitterByType().types}
    for plugin in installed(kind):
        if plugin.name in taken:
            yield PluginState(plugin, CLASH, f"{plugin.name} is {taken[plugin.name]}")
            continue
        taken[plugin.name] = f"made by {plugin}"
        yield PluginState(plugin, *_loadable(plugin))


def _loadable(plugin: Plugin) -> tuple[str, str]:
    try:
        loaded = plugin.load()
    except SettingsError as error:
        return FAILED, str(error)
    return (READY, "") if callable(loaded) else (FAILED, f"{plugin} is a {type(loaded).__name__}, nothing to call")
