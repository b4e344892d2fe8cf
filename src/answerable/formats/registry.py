"""All formats: the built-in ones, and those of plug-ins, whose errors name the plug-in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.errors import AnswerableError, EmptySource, SettingsError, SourceError
from answerable.formats.built_in import FORMATS
from answerable.formats.format import Format, Places
from answerable.plugins import SOURCES, Plugin, installed


@cache
def suffixes() -> Mapping[str, Format]:
    """Return the built-in formats by suffix; if several formats share a suffix, the one that needs no marks."""
    listed = sorted(FORMATS, key=lambda form: not form.needs_marks)
    return {suffix: form for form in listed for suffix in form.suffixes}


def format_called(name: str) -> Format:
    """Return the built-in format of this name. Raise KeyError."""
    return _by_name()[name]


@cache
def _by_name() -> Mapping[str, Format]:
    return {form.name: form for form in FORMATS}


@cache
def usual_format(kind: DocumentType) -> Format:
    """Return the usual format of documents of this type: the one with the type's name, else the first of the type."""
    return _by_name().get(kind.value) or next(form for form in FORMATS if form.kind is kind)


def is_rendered_chat(document: Document) -> bool:
    """Whether a chat's content was rendered from an export; the content of WhatsApp chats is the export itself."""
    return document.type is DocumentType.CHAT and "app" in document.metadata


def format_of(document: Document) -> Format:
    """Return the format that decides how a document, perhaps from a store, is split, cited and shown.

    A document of a plug-in that is no longer installed is cited without lines.
    """
    kind = DocumentType(document.type)
    ours = usual_format(kind)
    if kind is DocumentType.CHAT and not is_rendered_chat(document):
        ours = format_called("whatsapp")
    name = str(document.metadata.get(FORMAT) or "")
    if not name:
        return ours
    # The word may come from the file itself, such as Markdown's front matter, or from the document's creator.
    if (own := _by_name().get(name)) and own.kind is kind:
        return own
    suffix = PurePath(document.source.partition("#")[0]).suffix.lower()
    if not suffix or suffix in suffixes():
        return ours
    found = plugin_format(suffix)
    return found if found and found.name == name else replace(ours, places=Places.PARTS)


def with_format(document: Document, form: Format) -> Document:
    """Return the document, with the name of its format in its metadata if its type doesn't determine the format."""
    usual = format_of(document)
    is_told = (usual.places, usual.split, usual.markdown) == (form.places, form.split, form.markdown)
    if is_told or document.type is not form.kind:
        return document
    return replace(document, metadata={**document.metadata, FORMAT: form.name})


FORMAT = "format"
"""The field of a document's metadata with the name of the format, if the type alone doesn't determine the format."""


@dataclass(frozen=True, slots=True)
class PluginFormat:
    """A plug-in and its format; if the plug-in can't be used, the error that reading its files raises."""

    plugin: Plugin
    format: Format
    error: str = ""


@cache
def plugin_formats() -> tuple[PluginFormat, ...]:
    """Return the formats of all installed plug-ins, in the order in which they are tried."""
    return tuple(map(_loaded, installed(SOURCES)))


def plugin_format(suffix: str) -> Format | None:
    """Return the plug-in format of a suffix, preferably one that loads without error; None if there is none."""
    listed = sorted(plugin_formats(), key=lambda each: bool(each.error)) if suffix else ()
    return next((each.format for each in listed if suffix in each.format.suffixes), None)


def _loaded(plugin: Plugin) -> PluginFormat:
    try:
        loaded = plugin.load()
    except SettingsError as error:
        return _broken(plugin, str(error))
    if not isinstance(loaded, Format):
        kind = type(loaded).__name__
        return _broken(plugin, f"{plugin} is a {kind}, not a Format: update or uninstall {plugin.package}")
    if loaded.read is None:
        return _broken(plugin, f"{plugin} has no function `read`: update or uninstall {plugin.package}")
    return PluginFormat(plugin, replace(loaded, read=checked(plugin, loaded)))


def _broken(plugin: Plugin, error: str) -> PluginFormat:
    def fail(data: bytes, source: str, context: object) -> Document:
        raise SourceError(f"{source} can't be read: {error}")

    return PluginFormat(plugin, Format(name=plugin.name, suffixes=(f".{plugin.name}",), read=fail), error)


def checked(plugin: Plugin, form: Format) -> Callable[[bytes, str, Any], list[Document]]:
    """Return a checked reader for a plug-in's format: its errors, and those about its results, name the plug-in."""
    advice = f"report it to the authors of {plugin.package}, or leave the file out"

    def read(data: bytes, source: str, context: Any) -> list[Document]:
        assert form.read
        try:
            made = form.read(data, source, context)
            documents = [made] if isinstance(made, Document) else made
            problem = next(filter(None, (_problem(each, source) for each in documents)), "")
        except AnswerableError as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(f"{source}: {plugin} says: {error}") from error
        except Exception as error:
            raise SourceError(f"{source}: {plugin.failed('failed', error)}: {advice}") from error
        if problem:
            raise SourceError(f"{source}: {plugin} returned {problem}: {advice}")
        if not any(each.content.strip() for each in documents):
            raise EmptySource(f"{source} holds no text that {plugin} reads: leave it out")
        return [replace(each, metadata={**each.metadata, FORMAT: form.name}) for each in documents]

    return read


def _problem(document: object, source: str) -> str:
    """Return why the engine can't use a document, or "". Raise the errors that the document's values cause."""
    if not isinstance(document, Document):
        return f"a {type(document).__name__} instead of a Document"
    headings = [heading for part in document.parts for heading in part.headings]
    names = [name for each in document.left_out for name in each.names]
    own = (document.content, document.source, document.title, document.language, dict(document.metadata))
    # No store keeps lone surrogates and numbers that are infinite or NaN: encoding them raises.
    json.dumps((own, headings, names), ensure_ascii=False, allow_nan=False).encode("utf-8")
    if not document.source.startswith(source):
        return f"a document of another source ({document.source[:80]!r})"
    end = 0
    for part in document.parts:
        if not end <= part.start <= part.end <= len(document.content):
            return f"parts that overlap or are outside of the text (at character {part.start})"
        end = part.end
    return ""
