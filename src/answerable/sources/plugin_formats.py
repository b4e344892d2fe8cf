"""Formats that plug-ins read: found by suffix, read like any other file, errors named after the plug-in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from answerable.datatypes import Document
from answerable.errors import AnswerableError, EmptySource, SettingsError, SourceError
from answerable.plugins import SOURCES, Plugin, installed

if TYPE_CHECKING:
    from answerable.sources.context import ReadContext

FORMAT = "format"
"""The field of a document's metadata that names the plug-in that read it."""


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """A format that a plug-in adds.

    `read` turns a file's bytes and its source into documents of this source, or of places in it (`source#3`). It raises
    SourceError. `suffixes` are lower-case and begin with a full stop.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[bytes, str], list[Document]]


@dataclass(frozen=True, slots=True)
class PluginFormat:
    """A plug-in and its format; or, if it can't be loaded, the error."""

    plugin: Plugin
    format: SourceFormat | None = None
    error: str = ""


@cache
def plugin_formats() -> tuple[PluginFormat, ...]:
    """Return all installed formats, in the order in which they are asked."""
    return tuple(map(_loaded, installed(SOURCES)))


def _loaded(plugin: Plugin) -> PluginFormat:
    try:
        loaded = plugin.load()
    except SettingsError as error:
        return PluginFormat(plugin, error=str(error))
    if isinstance(loaded, SourceFormat):
        return PluginFormat(plugin, loaded)
    kind = type(loaded).__name__
    return PluginFormat(plugin, error=f"{plugin} is a {kind}, not a SourceFormat: update or uninstall {plugin.package}")


def plugin_format(suffix: str) -> PluginFormat | None:
    """Return the format of a suffix, or a plug-in of that name that can't be loaded; None if there is neither."""
    if not suffix:
        return None
    formats = plugin_formats()
    found = (each for each in formats if each.format and suffix in each.format.suffixes)
    broken = (each for each in formats if each.error and suffix == f".{each.plugin.name}")
    return next(found, None) or next(broken, None)


def read_by_plugin(data: bytes, source: str, context: ReadContext) -> list[Document]:
    """Return the documents that a plug-in reads in a file. Raise SourceError, which names the plug-in."""
    found = plugin_format(PurePath(source).suffix.lower())
    if found is None or found.format is None:
        raise SourceError(f"{source} can't be read: {found.error if found else 'its plug-in is no longer installed'}")
    plugin = found.plugin
    advice = f"report it to the authors of {plugin.package}, or leave the file out"
    try:
        documents = found.format.read(data, source)
        problem = next(filter(None, (_problem(each, source) for each in documents)), "")
    except AnswerableError as error:
        raise error if isinstance(error, SourceError) else SourceError(f"{source}: {plugin} says: {error}") from error
    except Exception as error:
        raise SourceError(f"{source}: {plugin.failed('failed', error)}: {advice}") from error
    if problem:
        raise SourceError(f"{source}: {plugin} returned {problem}: {advice}")
    if not any(each.content.strip() for each in documents):
        raise EmptySource(f"{source} holds no text that {plugin} reads: leave it out")
    return [replace(each, metadata={**each.metadata, FORMAT: found.format.name}) for each in documents]


def _problem(document: object, source: str) -> str:
    """Return what the engine can't do with a document, or nothing. Raise what its values raise."""
    if not isinstance(document, Document):
        return f"a {type(document).__name__} instead of a Document"
    headings = [heading for part in document.parts for heading in part.headings]
    texts = (document.content, document.source, document.title, document.language, dict(document.metadata), headings)
    # What no store keeps: lone surrogates, and numbers that aren't any.
    json.dumps(texts, ensure_ascii=False, allow_nan=False).encode("utf-8")
    if not document.source.startswith(source):
        return f"a document of another source ({document.source[:80]!r})"
    end = 0
    for part in document.parts:
        if not end <= part.start <= part.end <= len(document.content):
            return f"parts that overlap or are outside of the text (at character {part.start})"
        end = part.end
    return ""
