"""The file of keys: for each key its role, and its hash instead of its secret.

A secret is 256 random bits, too many to guess or to try out. So a single SHA-256 protects it as well as a slow password
hash would, and takes almost no time per request.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from answerable.disk.files import replace_file
from answerable.errors import SettingsError

if TYPE_CHECKING:
    from filelock import FileLock

Role = Literal["ask", "admin"]
"""`ask` may ask, search and read; `admin` may add and remove as well."""
ROLES: tuple[Role, ...] = ("ask", "admin")

_PREFIX = "ak_"
_DIGEST = re.compile(r"[0-9a-f]{64}")
# Bytes of a key file, about 40,000 keys: a larger file isn't a key file.
_LARGEST = 10_000_000
_State = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret.

    `library` is the library that the key is limited to (None: all); `made` is when it was created, ISO 8601 in UTC.
    """

    id: str
    sha256: str
    role: Role
    library: str | None
    name: str
    made: str


class Keys:
    """The keys in a file, which is read again whenever it changes. Writes are atomic."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[_State, tuple[Key, ...]] | None = None

    def list(self) -> tuple[Key, ...]:
        """Return all keys, oldest first. Raise SettingsError if the file is missing, damaged or open to others."""
        try:
            # If the path is a named pipe, opening it must not wait for a process that writes.
            with open(self._path, "rb", opener=_without_waiting) as file:
                status = os.fstat(file.fileno())
                # Check permissions each time, since changing them doesn't change `state`.
                _check_permissions(self._path, status)
                state = (status.st_mtime_ns, status.st_size, status.st_ino)
                if self._read is None or self._read[0] != state:
                    self._read = state, _parse(self._path, file.read(_LARGEST))
        except FileNotFoundError as error:
            raise SettingsError(
                f"There is no key file {self._path}. Make it with `answerable keys add --role admin {self._path}`."
            ) from error
        except OSError as error:
            raise SettingsError(f"The key file {self._path} can't be read ({error}). Check its permissions.") from error
        return self._read[1]

    def find(self, secret: str) -> Key | None:
        """Return the key with this secret, compared in constant time. Raise SettingsError as `list` does."""
        digest = _digest(secret)
        found = None
        for key in self.list():
            if hmac.compare_digest(key.sha256, digest):
                found = key
        return found

    def add(self, role: Role, library: str | None = None, name: str = "") -> tuple[Key, str]:
        """Add a key; return it with its secret, which isn't stored anywhere. Raise SettingsError.

        The file is created if needed.
        """
        secret = _PREFIX + secrets.token_urlsafe(32)
        made = datetime.now(timezone.utc).isoformat(timespec="seconds")
        key = Key(secrets.token_hex(4), _digest(secret), role, library, name, made)
        with self._changing():
            self._write([*(self.list() if self._path.exists() else ()), key])
        return key, secret

    def remove(self, key_id: str) -> Key:
        """Remove a key; a running server refuses it from the next request on. Raise SettingsError."""
        with self._changing():
            keys = {key.id: key for key in self.list()}
            if key_id not in keys:
                raise SettingsError(
                    f"No key has the id {key_id!r}. List the ids with `answerable keys list {self._path}`."
                )
            self._write([key for key in keys.values() if key.id != key_id])
        return keys[key_id]

    def _changing(self) -> FileLock:
        # Imported here, since `answerable --help` imports this module.
        from filelock import FileLock

        return FileLock(f"{self._path}.lock", mode=0o600)

    def _write(self, keys: Sequence[Key]) -> None:
        text = json.dumps({"format": 1, "keys": [asdict(key) for key in keys]}, indent=1) + "\n"
        replace_file(self._path, text)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_permissions(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SettingsError(f"The key file {path} is not a file. Remove it and make one with `answerable keys add`.")
    if os.name != "posix":
        return
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SettingsError(f"Other users may write to the key file {path} and add keys. Run: chmod 600 {path}")
    for folder in {path.absolute().parent, path.resolve().parent}:
        mode = folder.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise SettingsError(f"Other users may replace the key file {path}. Run: chmod o-w {folder}")


def _parse(path: Path, read: bytes) -> tuple[Key, ...]:
    try:
        raw = json.loads(read.decode("utf-8"))
        return tuple(_key(**entry) for entry in raw["keys"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SettingsError(
            f"The key file {path} is damaged ({type(error).__name__}). Remove it and make new keys with "
            "`answerable keys add`."
        ) from error


def _key(**entry: Any) -> Key:
    key = Key(**entry)
    if key.role not in ROLES or not _DIGEST.fullmatch(key.sha256) or not isinstance(key.library, (str, type(None))):
        raise ValueError(f"invalid key {key.id!r}")
    return key
