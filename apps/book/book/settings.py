"""Settings: environment variables, read when they are needed. A missing one is a SettingsError that names it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from answerable.errors import SettingsError
from answerable.settings import Settings as EngineSettings
from answerable.settings import checked_key, load_settings

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_PATH = "path:"


@dataclass(frozen=True, slots=True)
class QdrantAddress:
    """Where Qdrant is: one of a server's `url`, a `folder`, or neither, which is this process's memory."""

    url: str = ""
    folder: str = ""
    api_key: str = field(default="", repr=False)


def qdrant() -> QdrantAddress:
    """QDRANT_URL, with QDRANT_API_KEY where it is a server's."""
    address = _required("QDRANT_URL", "the address of your Qdrant cluster, path:./qdrant for a folder, or :memory:")
    if address == ":memory:":
        return QdrantAddress()
    if address.startswith(_PATH):
        folder = address.removeprefix(_PATH)
        if not folder:
            raise SettingsError("QDRANT_URL names no folder: give one like path:./qdrant")
        return QdrantAddress(folder=os.path.expanduser(folder))
    if not address.startswith(("http://", "https://")):
        # It may hold a key, so it isn't shown.
        raise SettingsError("QDRANT_URL is none of https://…, http://…, path:… and :memory:. Correct it.")
    return QdrantAddress(
        address, api_key=checked_key(_required("QDRANT_API_KEY", "the key of your Qdrant cluster"), "QDRANT_API_KEY")
    )


def engine() -> EngineSettings:
    """The engine's own settings, such as ANSWERABLE_ALLOW_HOSTS."""
    return load_settings()


def cohere() -> EngineSettings:
    """The engine's settings, with a key for Cohere."""
    settings = engine()
    if not settings.cohere_api_key:
        raise _missing("COHERE_API_KEY", "your key for Cohere's API")
    return settings


def book_url(given: str | None) -> str:
    """The address given, or else BOOK_BASE_URL."""
    return given or _required("BOOK_BASE_URL", "the book's address, or give it by --url")


def log_level() -> str:
    """LOG_LEVEL, by default INFO."""
    level = os.environ.get("LOG_LEVEL", "").strip().upper() or "INFO"
    if level not in LEVELS:
        raise SettingsError(f"LOG_LEVEL is no level: use one of {', '.join(LEVELS)}")
    return level


def _required(name: str, meaning: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise _missing(name, meaning)
    return value


def _missing(name: str, meaning: str) -> SettingsError:
    return SettingsError(f"The environment variable {name} is not set. Set it to {meaning}.")
