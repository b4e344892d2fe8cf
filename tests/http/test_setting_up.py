"""Setting up a provider over HTTP and on the page: its key and address, kept on the server and never shown."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import httpx
import pytest
from browser import visiting
from playwright.sync_api import expect
from providers.scripted_server import ScriptedServer, chat, failure, json_reply
from service_on_socket import small_service, upload

from answerable.settings import Settings, configuration_folder, load_settings

SECRET = "sk-S3cret0fThisTest"
CHAT = "/v1/chat/completions"
LISTED = {"object": "list", "data": [{"id": "tiny", "object": "model"}, {"id": "large", "object": "model"}]}
SETTINGS = "api/v1/library/settings"
QUESTION = {"question": "What colour is the gate?"}


def put(client: httpx.Client, **body: str | None) -> httpx.Response:
    """Sends a key or an address of OpenAI's."""
    return client.put(f"{SETTINGS}/key", json={"provider": "openai", **body})


def writer() -> ScriptedServer:
    """A server of OpenAI's protocol."""
    server = ScriptedServer()
    server.script(CHAT, chat("The gate is blue [1]."))
    server.script("/v1/models", json_reply(LISTED))
    return server


def test_a_key_is_kept_on_the_server_used_at_once_and_never_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with writer() as server, small_service(tmp_path, addresses=True) as (_, client):
        upload(client, ("gate.txt", b"The gate is blue."))
        moved = put(client, address=f"{server.url}/v1")
        assert (moved.json()["may_set_up"], moved.json()["may_move"]) == (True, True)
        said = [moved, put(client, key=SECRET)]
        openai = {each["name"]: each for each in said[1].json()["providers"]}["openai"]
        assert (openai["has_key"], openai["is_here"], openai["needs"]) == (True, True, "")
        said.append(client.put(f"{SETTINGS}/model", json={"model": "openai:tiny"}))
        host = server.url[7:]
        assert said[-1].json()["sending"] == {"host": host, "is_here": True, "price": None}
        assert client.post("api/v1/library/ask", json=QUESTION).json()["model"] == "openai:tiny"
        assert server.requests[-1].headers["authorization"] == f"Bearer {SECRET}"
        # Another key is used from the next question on, and a wrong one isn't repeated.
        said.append(put(client, key=f"{SECRET}2"))
        server.script(CHAT, failure(401, f"Incorrect API key provided: {SECRET}2"))
        server.script("/v1/models", failure(401, f"Incorrect API key provided: {SECRET}2"))
        said += [client.post("api/v1/library/ask", json=QUESTION), client.get(SETTINGS)]
        assert server.requests[-1].headers["authorization"] == f"Bearer {SECRET}2"
        said.append(client.post(f"{SETTINGS}/models", json={"provider": "openai"}))
        said.append(put(client, key=f"{SECRET}\n{SECRET}"))
        assert said[-1].status_code == said[-2].status_code == 422
        said += [put(client, key=SECRET * 100), client.put(f"{SETTINGS}/key", json={"key": SECRET})]
        assert SECRET not in "".join(each.text for each in said) + caplog.text
        file = configuration_folder() / "keys.toml"
        assert file.read_text() == f'openai_api_key = "{SECRET}2"\n'
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert load_settings().openai_base_url == f"{server.url}/v1"


def test_a_key_that_is_forgotten_is_used_no_more(tmp_path: Path) -> None:
    settings = Settings(model="openai:gpt-5-nano", openai_api_key=SECRET)
    with small_service(tmp_path, settings=settings) as (_, client):
        found = client.get(SETTINGS).json()
        assert (found["model"], found["sending"]["host"]) == ("openai:gpt-5-nano", "api.openai.com")
        assert found["sending"]["price"] == [0.05, 0.4]
        assert found["offered"]["openai:gpt-5-nano"] == found["sending"]
        listed = client.get("api/v1/libraries").json()["libraries"][0]
        assert (listed["model"], listed["model_is_here"]) == ("openai:gpt-5-nano", False)
        assert put(client, key="").json()["model"] == "extractive"
        assert put(client, key=SECRET).json()["model"] == "openai:gpt-5-nano"


def test_what_is_set_elsewhere_or_may_not_be_set_here_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_service(tmp_path) as (_, client):
        refused = put(client, address="http://models.example.org/v1")
        assert (refused.status_code, refused.json()["code"]) == (409, "setting_fixed")
        assert "answerable model MODEL --address URL" in refused.json()["detail"]
        for body in ({"provider": "ollama", "key": SECRET}, {"provider": "nobody", "key": SECRET}):
            refused = client.put(f"{SETTINGS}/key", json=body)
            assert (refused.status_code, refused.json()["code"]) == (422, "model_unusable")
        (tmp_path / "answerable.toml").write_text('openai_api_key = "k"')
        monkeypatch.chdir(tmp_path)
        assert str(tmp_path / "answerable.toml") in put(client, key=SECRET).json()["detail"]
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        refused = put(client, key=SECRET)
        assert (refused.status_code, refused.json()["code"]) == (409, "setting_fixed")
        assert "OPENAI_API_KEY" in refused.json()["detail"]
    assert not (configuration_folder() / "keys.toml").exists()


def test_an_ollama_is_found_and_a_key_is_set_up_on_the_page(tmp_path: Path) -> None:
    with writer() as ollama, writer() as server:
        settings = Settings(ollama_base_url=f"{ollama.url}/v1", openai_chat_model="large")
        with small_service(tmp_path, settings=settings, addresses=True) as (running, client):
            upload(client, ("gate.txt", b"The gate is blue."))
            with visiting(running.address) as visitor:
                page = visitor.page
                # From the welcome to the model of an Ollama in two clicks.
                page.get_by_role("button", name="Model: no model").click()
                offered = page.get_by_role("button", name="ollama:tiny")
                assert f"stay on the server's machine, if {ollama.url[7:]} runs" in offered.inner_text()
                assert visitor.barriers() == []
                visitor.shot("model")
                offered.click()
                button = page.get_by_role("button", name="Model: tiny · on the server")
                expect(button).to_be_focused()
                expect(offered).to_be_hidden()
                button.press("Enter")
                # To one that needs a key in three, and the key.
                page.get_by_role("link", name="Set up openai").click()
                page.locator(".providers", has_text="reachable; models: 2").wait_for()
                page.get_by_text(f"stay on the server's machine, if {ollama.url[7:]} runs").wait_for()
                expect(page.get_by_label("Key: openai")).to_be_focused()
                assert page.get_by_label("Key: openai").get_attribute("type") == "password"
                page.get_by_label("Key: openai").fill(SECRET)
                page.get_by_label("Address: openai").fill(f"{server.url}/v1")
                page.get_by_text("The key is stored on the server and never shown again.").locator(
                    "visible=true"
                ).wait_for()
                page.keyboard.press("Enter")
                page.locator(".providers li", has_text="openai").get_by_text("reachable; models: 2").wait_for()
                page.get_by_role("button", name="Use openai:large").click()
                page.get_by_text(f"if {server.url[7:]} runs").wait_for()
                expect(page.get_by_label("Model")).to_be_focused()
                assert page.get_by_label("Model").input_value() == "openai:large"
                assert page.get_by_label("Key: openai").input_value() == ""
                assert SECRET not in page.content()
                assert visitor.barriers() == []
                visitor.shot("set-up")
                page.get_by_role("button", name="Forget the key").click()
                page.get_by_role("button", name="Forget the key").wait_for(state="detached")
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
