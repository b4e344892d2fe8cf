"""Settings, from the environment and from a file `.env`; the environment comes first. Errors name the variable."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs
from dotenv import dotenv_values

from answerable.errors import SettingsError
from answerable.settings import Settings as EngineSettings
from answerable.settings import checked_key, load_settings
from answerable.wiring.build import EXTRACTIVE

COLLECTION = "physical_ai_textbook"

# Proxies give up after half a minute or a whole one.
INGEST_WAIT = 20.0

_BACKEND = Path(__file__).parents[1]
_PATH = "path:"
# As browsers send it, in lower case and without a slash at the end.
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:\d{1,5})?|https?://\[[0-9a-f:]+\](:\d{1,5})?")


@dataclass(frozen=True, slots=True)
class QdrantAddress:
    """Where Qdrant is: one of a server's `url`, a `folder`, or neither, which is this process's memory."""

    url: str = ""
    folder: str = ""
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """`engine` has the key, the address and the models of OpenAI's API; `docs` is empty where nobody says.

    Pages of the sites `origins` may ask; `ingest_wait` is how many seconds a client waits for an ingestion.
    `is_strict` says that of an answer only what the passages back is given.
    """

    qdrant: QdrantAddress
    engine: EngineSettings = field(repr=False)
    admin_key: str = field(default="", repr=False)
    docs: str = ""
    sessions: str = ""
    origins: frozenset[str] = frozenset()
    ingest_wait: float = INGEST_WAIT
    is_strict: bool = False

    @property
    def is_extractive(self) -> bool:
        """Whether no model is configured, so that answers quote."""
        return self.engine.model == EXTRACTIVE

    @property
    def docs_folder(self) -> Path:
        """BOOK_DOCS_PATH. Raises SettingsError where it is no folder."""
        if not self.docs:
            raise SettingsError("BOOK_DOCS_PATH is not set. Set it to the folder of the book's Markdown files.")
        folder = Path(os.path.abspath(os.path.expanduser(self.docs)))
        if not folder.is_dir():
            raise SettingsError(f"BOOK_DOCS_PATH is {self.docs}, which is no folder. Correct it.")
        return folder

    @property
    def sessions_path(self) -> Path:
        """The file that conversations are kept in, by default among the user's data."""
        default = Path(platformdirs.user_data_dir("answerable", appauthor=False)) / "textbook" / "sessions.db"
        return Path(os.path.expanduser(self.sessions)) if self.sessions else default


def load() -> Settings:
    """What holds now. Raises SettingsError that names the variable."""
    variables = _variables()
    names = ("ADMIN_API_KEY", "BOOK_DOCS_PATH", "CHAT_SESSIONS_PATH")
    key, docs, sessions = (variables.get(name, "").strip() for name in names)
    return Settings(
        qdrant=_qdrant(variables),
        engine=_engine(variables),
        admin_key=key,
        docs=docs,
        sessions=sessions,
        origins=_origins(variables),
        ingest_wait=_ingest_wait(variables),
        is_strict=_is_strict(variables),
    )


def _variables() -> Mapping[str, str]:
    """The environment over the file `.env` of the current folder, or else of this application's."""
    path = next((path for path in (Path.cwd() / ".env", _BACKEND / ".env") if path.is_file()), None)
    if path is None:
        return os.environ
    try:
        # Editors on Windows begin a file of UTF-8 with a mark.
        written = dotenv_values(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} can't be read as UTF-8 ({error}). Correct it or take it away.") from error
    return {**{name: value for name, value in written.items() if value is not None}, **os.environ}


def _origins(variables: Mapping[str, str]) -> frozenset[str]:
    given = [origin.strip().rstrip("/").lower() for origin in variables.get("CORS_ORIGINS", "").split(",")]
    wrong = [origin for origin in given if origin and not _ORIGIN.fullmatch(origin)]
    if wrong:
        raise SettingsError(
            f"CORS_ORIGINS names {wrong[0]!r}, which is no origin. Name each site as https://book.example or "
            "http://localhost:3000, without a path and without *."
        )
    return frozenset(filter(None, given))


def _is_strict(variables: Mapping[str, str]) -> bool:
    given = variables.get("ANSWERABLE_GROUNDING", "").strip().lower()
    if given not in ("", "marked", "strict"):
        raise SettingsError(f"ANSWERABLE_GROUNDING is {given!r}. Set it to marked or strict.")
    return given == "strict"


def _ingest_wait(variables: Mapping[str, str]) -> float:
    given = variables.get("INGEST_WAIT", "").strip()
    if not given:
        return INGEST_WAIT
    if not re.fullmatch(r"\d{1,5}(\.\d+)?", given):
        raise SettingsError(f"INGEST_WAIT is {given!r}. Set it to a number of seconds, 0 or more.")
    return float(given)


def _engine(variables: Mapping[str, str]) -> EngineSettings:
    """OpenAI embeds and writes where it is configured, this machine embeds and quotes where not."""
    found = load_settings(environment=variables)
    if not found.openai_api_key and not found.openai_base_url.strip():
        return found
    wanted = {"ANSWERABLE_EMBEDDER": f"openai:{found.openai_embedding_model}", "ANSWERABLE_MODEL": "openai"}
    return load_settings(environment={**wanted, **{name: value for name, value in variables.items() if value}})


def _qdrant(variables: Mapping[str, str]) -> QdrantAddress:
    address = variables.get("QDRANT_URL", "").strip()
    if not address:
        raise SettingsError(
            "QDRANT_URL is not set. Set it to the address of your Qdrant server, path:./qdrant for a folder, or "
            ":memory:."
        )
    if address == ":memory:":
        return QdrantAddress()
    if address.startswith(_PATH):
        folder = address.removeprefix(_PATH)
        if not folder:
            raise SettingsError("QDRANT_URL names no folder. Give one like path:./qdrant.")
        return QdrantAddress(folder=os.path.abspath(os.path.expanduser(folder)))
    if not address.startswith(("http://", "https://")):
        # It may hold a key, so it isn't shown.
        raise SettingsError("QDRANT_URL is none of https://…, http://…, path:… and :memory:. Correct it.")
    return QdrantAddress(address, api_key=checked_key(variables.get("QDRANT_API_KEY", ""), "QDRANT_API_KEY"))
