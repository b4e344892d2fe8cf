"""The files of one conversation as one: the days of a Slack channel, the parts of a Messenger thread.

In a folder they are read, compared and followed as if their folder were a file; in an archive, as one member.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from answerable.errors import SourceError, UnsupportedSource
from answerable.sources.formats import BUNDLE
from answerable.sources.text import decode

_DAY = re.compile(r"\d{4}-\d\d-\d\d\.json")
_MESSENGER = re.compile(r"message_\d{1,5}\.json")
_USERS = "users.json"
_OF_WORKSPACE = ("users.json", "channels.json", "groups.json")
_LISTS = frozenset(
    "users.json org_users.json channels.json groups.json dms.json mpims.json integration_logs.json canvases.json "
    "huddle_transcripts.json file_conversations.json".split()
)
SLACK_LIST = "list of a Slack export"


def conversation_in(names: Collection[str]) -> list[str]:
    """Return the names of a folder's files that may be one conversation, in order: all days, or several parts."""
    days = sorted(name for name in names if _DAY.fullmatch(name))
    parts = sorted(name for name in names if _MESSENGER.fullmatch(name))
    return days or (parts if len(parts) > 1 else [])


def bundled(names: Collection[str], names_above: Collection[str]) -> list[str]:
    """Return the names of a folder's files that are one conversation.

    Days belong to a channel only if the folder above it has Slack's `users.json`.
    """
    found = conversation_in(names)
    return found if found and (_USERS in names_above or not _DAY.fullmatch(found[0])) else []


def is_slack_list(name: str) -> bool:
    """Whether a file beside channels is one of the lists, whose names are read with each channel."""
    return name in _LISTS


def beside(names: Iterable[str], names_above: Collection[str]) -> list[str]:
    """Return the names of the files of the folder above that are read with these."""
    is_slack = any(_DAY.fullmatch(name) for name in names)
    return [name for name in _OF_WORKSPACE if name in names_above] if is_slack else []


def bundle(files: Mapping[str, bytes]) -> bytes:
    """Return the files as JSON that the reader of chats takes; names of the folder above begin with `../`."""
    texts: dict[str, str] = {}
    for name, data in files.items():
        try:
            texts[name] = decode(data, name)
        except UnsupportedSource:
            texts[name] = ""
    return json.dumps({BUNDLE: texts}, ensure_ascii=False).encode("utf-8", "replace")


def files_of(folder: Path) -> dict[str, Path]:
    """Return the files of a folder that are one conversation and those that are read with them, by name; or none."""
    try:
        found = conversation_in(_plain_files(folder))
        above = _plain_files(folder.parent) if found else frozenset()
    except OSError:
        return {}
    found = bundled(found, above)
    return {
        **{name: folder / name for name in found},
        **{f"../{name}": folder.parent / name for name in beside(found, above)},
    }


def channels_in(folder: Path, names: Collection[str]) -> bool:
    """Whether a folder with these names is a Slack export: one of its folders is a channel."""
    return _USERS in names and any(files_of(folder / name) for name in names if "." not in name)


def in_archive(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return, for each folder of an archive with a conversation, the full names of its files by short name."""
    folders: dict[str, set[str]] = {}
    for name in names:
        folder, _, short = name.rpartition("/")
        folders.setdefault(folder, set()).add(short)
    found = {}
    for folder, inside in folders.items():
        upper = folder.rpartition("/")[0]
        above = folders.get(upper, set()) if folder else set()
        if days := bundled(inside, above):
            own = {short: f"{folder}/{short}".lstrip("/") for short in days}
            found[folder] = own | {f"../{name}": f"{upper}/{name}".lstrip("/") for name in beside(days, above)}
    return found


def _plain_files(folder: Path) -> frozenset[str]:
    with os.scandir(folder) as entries:
        return frozenset(entry.name for entry in entries if entry.is_file(follow_symlinks=False))


def load_folder(folder: Path, source: str, size: int) -> bytes:
    """Return the bundle of the first `size` bytes of a folder's files. Raise SourceError for a folder without."""
    files = files_of(folder)
    if not files:
        raise SourceError(f"{source} is a folder: use walk to read the files in it")
    left, read = size, {}
    for name, path in files.items():
        with path.open("rb") as file:
            read[name] = file.read(left)
        left -= len(read[name])
    return bundle(read)


def status_of(folder: Path) -> os.stat_result | None:
    """Return the status of a conversation in a folder as if it were one file, or None if the folder has none."""
    try:
        found = [os.stat(path) for path in files_of(folder).values()]
        own = os.stat(folder)
    except (OSError, ValueError):
        return None
    if not found:
        return None
    newest = max(each.st_mtime_ns for each in found)
    size = sum(each.st_size for each in found)
    seconds = newest // 1_000_000_000
    fields = (stat.S_IFREG | 0o600, own.st_ino, own.st_dev, 1, own.st_uid, own.st_gid, size, seconds, seconds, seconds)
    return os.stat_result(fields, {"st_mtime_ns": newest})


def digest_of(folder: Path) -> str:
    """Return the SHA-256 of a folder's conversation, or "" if it can't be read."""
    digest = sha256()
    try:
        for name, path in files_of(folder).items():
            digest.update(f"{name}\0{path.stat().st_size}\0".encode("utf-8", "surrogateescape"))
            digest.update(path.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()
