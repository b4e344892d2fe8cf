"""Set up the model that writes answers: try it, and keep it, its provider's address and key in the user's files.

Keys are kept in `keys.toml`, which only this account may read; the rest in `answerable.toml`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from answerable.disk.files import is_full, make_folder, no_room, replace_file
from answerable.errors import ModelNotFound, ProviderError, SettingsError
from answerable.protocols import Message
from answerable.providers.calling import host_of
from answerable.settings import (
    FILE,
    KEY_FILE,
    KEYS,
    Settings,
    checked_key,
    configuration_folder,
    parse_settings,
    set_by,
)
from answerable.wiring.answering import build_chat_model
from answerable.wiring.plugins import plugin_answerer
from answerable.wiring.providers import KEY_OF, PROVIDERS, listed_models, sending

# Reasoning counts, even about so short an answer. A guess, not measured.
_TRIAL_TOKENS = 1000
_TRIAL = (Message("user", "Reply with the word yes."),)
# Names of models in an error: what fits on a line or two.
_MOST_NAMED = 5


def try_model(settings: Settings) -> None:
    """Have the model of the settings begin a short answer; a plug-in is only loaded.

    Raise SettingsError, MissingPackage and ProviderError; an unknown model's error names those most like it.
    """
    provider = settings.model.partition(":")[0]
    if provider not in PROVIDERS and plugin_answerer(settings.model):
        return
    with closing(build_chat_model(settings, retries=0)) as model:
        try:
            with closing(model.stream(_TRIAL, _TRIAL_TOKENS)) as pieces:
                next((piece for piece in pieces if piece.text), None)
        except ModelNotFound as error:
            raise ModelNotFound(f"{error}{_like(settings, provider)}") from error


def _like(settings: Settings, provider: str) -> str:
    try:
        listed = [name.partition(":")[2] for name in listed_models(settings, provider)]
    except ProviderError:
        return ""
    near = get_close_matches(settings.model.partition(":")[2], listed, _MOST_NAMED) or listed[:_MOST_NAMED]
    return f" It has: {', '.join(f'{provider}:{name}' for name in near)}." if near else " It has no models yet."


def changes(settings: Settings, provider: str, key: str | None = None, address: str | None = None) -> dict[str, str]:
    """Return the settings that a provider's new key and address change; an empty one removes it, None leaves it.

    A new address removes the kept key unless a key comes with it, since it may be another party's. Raise
    SettingsError, also if a key that is set elsewhere would be sent to a new address on another machine.
    """
    if provider not in PROVIDERS:
        raise SettingsError(f"Keys and addresses are for {', '.join(PROVIDERS)}. Name a model of one of them.")
    changed, kept = {}, KEY_OF.get(provider)
    if key is not None:
        if kept is None:
            raise SettingsError(f"{provider} takes no key. Leave it out.")
        changed[kept] = checked_key(key, f"The key of {provider}")
    if address is not None:
        name = f"{provider}_base_url"
        changed[name] = address.strip() or str(getattr(Settings(), name))
        if address.strip():
            host_of(changed[name], name, "http://localhost:11434/v1")
    if kept and address is not None and changed[name] != getattr(settings, name):
        moved = replace(settings, **{name: changed[name]})  # type: ignore[arg-type]
        sent, by = sending(moved, provider), overridden(kept)
        if by and not sent.is_here:
            raise SettingsError(f"The key that {by} sets would be sent to {sent.host}. Remove it there first.")
        if not by:
            changed.setdefault(kept, "")
    return changed


def overridden(name: str) -> str:
    """Return what sets a setting in spite of what `keep` keeps: a variable or a file; "" for nothing."""
    by = set_by(name)
    return "" if by == str(_file(name)) else by


def keep(values: Mapping[str, str]) -> None:
    """Write settings to the user's files, whose other lines stay; an empty value removes the setting's line.

    Raise SettingsError and DiskFull.
    """
    texts: dict[Path, str] = {}
    for name, value in values.items():
        path = _file(name)
        texts[path] = _edited(texts[path] if path in texts else _read(path), name, value)
    for path, text in texts.items():
        try:
            make_folder(path.parent)
            # A link to the file stays one.
            replace_file(path.resolve(), text)
        except OSError as error:
            if is_full(error, path):
                raise no_room(path) from error
            raise SettingsError(f"{path} can't be written ({error}). Check the folder and its disk.") from error


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} can't be read ({error}). Correct or remove it.") from error


def _file(name: str) -> Path:
    return configuration_folder() / (KEY_FILE if name in KEYS else FILE)


def _edited(text: str, name: str, value: str) -> str:
    """Return the text of a TOML file with another value of a setting, or without its line. Raise SettingsError."""
    path = _file(name)
    quoted = json.dumps(value, ensure_ascii=False)
    line = rf"""(?m)^([ \t]*["']?{name}["']?[ \t]*=[ \t]*)(?:"(?:\\.|[^"\\\r\n])*"|'[^'\r\n]*')"""
    if value:
        edited, found = re.subn(line, lambda match: f"{match[1]}{quoted}", text)
        if not found:
            gap = "\n" if text and not text.endswith("\n") else ""
            edited = f"{text}{gap}{name} = {quoted}\n"
    else:
        edited = re.sub(rf"{line}[^\r\n]*(?:\r?\n|\Z)", "", text)
    wanted = {**parse_settings(text, path), name: value}
    if not value:
        del wanted[name]
    try:
        is_right = parse_settings(edited, path) == wanted
    except SettingsError:
        is_right = False
    if not is_right:
        # For example in a text of several lines, or after the name of a table.
        raise SettingsError(f"{path} sets {name} in an unusual way. Change it there by hand.")
    return edited
