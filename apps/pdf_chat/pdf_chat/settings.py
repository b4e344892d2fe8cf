"""Settings, from the environment and from a file `.env`; the environment comes first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dotenv import dotenv_values
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from answerable.errors import SettingsError
from answerable.settings import Settings as EngineSettings
from answerable.settings import load_settings
from pdf_chat.errors import ConfigurationError

DIMENSION = 1536
"""Of the vectors, unless ANSWERABLE_EMBEDDING_DIMENSION says otherwise."""

_APP = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Settings:
    """`engine` has the key, the address and the models of OpenAI's API, and the engine's own settings.

    `is_strict` says that of an answer only what the PDF backs is given.
    """

    database: URL = field(repr=False)
    collection: str
    engine: EngineSettings = field(repr=False)
    is_strict: bool = False

    @property
    def dimension(self) -> int:
        """How long vectors are."""
        return self.engine.embedding_dimension or DIMENSION


def load() -> Settings:
    """What searching and ingesting need. Raises ConfigurationError that names the variable."""
    variables = _variables()
    database = _database(_required(variables, "DATABASE_URL"))
    collection = _required(variables, "PG_VECTOR_COLLECTION_NAME")
    engine = _engine(variables)
    if not engine.openai_base_url:
        # Another server may go without a key.
        _required(variables, "OPENAI_API_KEY")
    return Settings(database, collection, engine, _is_strict(variables))


def pdf_path() -> Path:
    """PDF_PATH, `~` replaced. Raises ConfigurationError where there is none."""
    return Path(os.path.expanduser(_required(_variables(), "PDF_PATH")))


def _variables() -> Mapping[str, str]:
    """The environment over the file `.env` of the current folder, or else of this application's."""
    path = next((path for path in (Path.cwd() / ".env", _APP / ".env") if path.is_file()), None)
    if path is None:
        return os.environ
    try:
        # Editors on Windows begin a file of UTF-8 with a mark.
        written = dotenv_values(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"o arquivo {path} não pode ser lido como UTF-8 ({error})") from error
    return {**{name: value for name, value in written.items() if value is not None}, **os.environ}


def _required(variables: Mapping[str, str], name: str) -> str:
    value = variables.get(name, "").strip()
    if not value:
        raise ConfigurationError(f"a variável {name} não está definida; defina-a no ambiente ou no arquivo .env")
    return value


def _is_strict(variables: Mapping[str, str]) -> bool:
    given = variables.get("ANSWERABLE_GROUNDING", "").strip().lower()
    if given not in ("", "marked", "strict"):
        raise ConfigurationError("ANSWERABLE_GROUNDING não é marked nem strict; corrija-a ou retire-a")
    return given == "strict"


def _database(address: str) -> URL:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.drivername.partition("+")[0] not in ("postgresql", "postgres"):
        # It may hold a password, so it isn't shown.
        raise ConfigurationError("DATABASE_URL não é um endereço como postgresql://usuario:senha@host:5432/banco")
    return url.set(drivername="postgresql+psycopg")


def _engine(variables: Mapping[str, str]) -> EngineSettings:
    try:
        return load_settings(environment=variables)
    except SettingsError as error:
        raise ConfigurationError(str(error)) from error
