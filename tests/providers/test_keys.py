"""Keys of every provider and store: trimmed, and quoted by no error."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest
from helpers import HashEmbedder
from scripted_server import Reply, Request, ScriptedServer

import answerable
from answerable.errors import AnswerableError, LibraryError, SettingsError

KEY, REST = "S3cretKeyOfAProvider", "0therPartOfIt"
SETTINGS = {
    "openai_api_key": ("openai_base_url", {"model": "openai:x"}),
    "github_token": ("github_base_url", {"model": "github:x"}),
    "cohere_api_key": ("cohere_base_url", {"model": "cohere:x"}),
    "qdrant_api_key": ("", {}),
}


def refusing(request: Request) -> Reply:
    """Servers echo what they refuse, sometimes in other clothes."""
    sent = f"{request.headers.get('authorization', '')}{request.headers.get('api-key', '')}"
    return Reply(401, pieces=(f'{{"message": "unknown: {sent}", "status": {{"error": "unknown: {sent}"}}}}'.encode(),))


def asked(url: str, name: str, key: str, folder: Path) -> str:
    """What is said to somebody who asks with this key, with all that led to it."""
    at, chosen = SETTINGS[name]
    settings: dict[str, Any] = {**chosen, name: key, **({at: url} if at else {})}
    (folder / "gate.txt").write_text("The gate is blue.")
    try:
        with answerable.open(":memory:" if at else f"qdrant+{url}/x", embedder=HashEmbedder(), **settings) as library:
            library.add(folder / "gate.txt")
            return repr(library.ask("Which colour is the gate?"))
    except AnswerableError as error:
        return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", " \t{}\u00a0"])
def test_keys_are_trimmed(name: str, around: str, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.unscripted = refusing  # type: ignore[method-assign]
        said = asked(server.url, name, around.format(KEY), tmp_path)
        headers = server.requests[0].headers
    assert KEY in (headers.get("authorization", "").removeprefix("Bearer "), headers.get("api-key"))
    assert KEY not in said


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("broken", [f"{KEY}\n{REST}", f"{KEY}\r{REST}", f"{KEY}\0{REST}", f"{KEY}é{REST}\n"])
def test_a_broken_key_is_named_and_not_quoted(name: str, broken: str, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        said = asked(server.url, name, broken, tmp_path)
        assert server.requests == []
    assert name.lower() in said.lower()
    assert "SettingsError" in said
    assert KEY not in said
    assert REST not in said


@pytest.mark.parametrize("password", [f"p@{KEY}", f"{KEY}@p", f"p/{KEY}", f"p#{KEY}", f"p%zz{KEY}", f"{KEY}\n{REST}"])
def test_a_password_of_an_address_is_not_quoted(password: str) -> None:
    with pytest.raises((LibraryError, SettingsError)) as raised:
        answerable.open(f"postgresql://u:{password}@127.0.0.1:9/db", embedder=HashEmbedder())
    assert KEY not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("setting", ["openai_base_url", "ollama_base_url", "github_base_url", "cohere_base_url"])
def test_an_address_that_no_request_can_go_to_is_an_error_of_ours(setting: str) -> None:
    model = setting.partition("_")[0]
    keys = {"openai_api_key": KEY, "github_token": KEY, "cohere_api_key": KEY}
    with pytest.raises(SettingsError, match="is not a valid address") as raised:
        answerable.open(
            ":memory:", embedder=HashEmbedder(), model=f"{model}:x", **{setting: f"http://u:{KEY}\n@127.0.0.1"}, **keys
        )
    assert KEY not in str(raised.value)
