"""`answerable model`: what it shows, tries and keeps, and that it tells nobody a key."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from commands import COMMAND, run_command, run_here
from providers.real_servers import KEY, llama_server
from providers.scripted_server import Reply, Request, ScriptedServer, chat, failure, json_reply
from terminal import Terminal

from answerable.errors import SettingsError
from answerable.settings import configuration_folder, load_settings

SECRET = "sk-S3cret0fThisTest"
CHAT = "/v1/chat/completions"
LISTED = {"object": "list", "data": [{"id": name, "object": "model"} for name in ("qwen3:1.7b", "qwen3:4b", "llama3")]}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that has the models of `LISTED` and writes one word."""
    with ScriptedServer() as server:
        server.script(CHAT, chat("Yes"))
        server.script("/v1/models", json_reply(LISTED))
        yield server


@pytest.fixture
def ollama(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """The server as the user's Ollama."""
    monkeypatch.setenv("ANSWERABLE_OLLAMA_BASE_URL", f"{server.url}/v1")
    return server


def kept(name: str = "answerable.toml") -> str:
    """What a file in the user's configuration folder has; nothing if there is none."""
    path = configuration_folder() / name
    return path.read_text() if path.exists() else ""


def write(name: str, text: str, mode: int = 0o600) -> Path:
    """Makes a file in the user's configuration folder."""
    path = configuration_folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(mode)
    return path


def fails(done: CompletedProcess[str], *parts: str) -> None:
    """One line says what to do; nothing is kept and no key is told."""
    *_, line = done.stderr.splitlines()
    assert done.returncode == 2, done.stdout
    assert line.startswith("error: ")
    assert done.stderr.count("error: ") == 1
    for part in parts:
        assert part in line
    assert SECRET not in done.stdout + done.stderr
    assert kept() == kept("keys.toml") == ""


def test_it_shows_what_is_in_effect_what_leaves_and_what_to_type_next(ollama: ScriptedServer) -> None:
    shown = run_here("model").stdout
    assert "extractive (the default)" in shown
    assert "Nothing leaves this machine: answers are quotes." in shown
    assert f"answers at {ollama.url[7:]}: llama3, qwen3:1.7b, qwen3:4b" in shown
    assert "no key: answerable model openai:gpt-5-nano --key" in shown
    assert "openai:gpt-5-nano: $0.05 per million tokens read, $0.4 written" in shown
    assert "answerable model ollama:llama3, or" in shown
    shown = run_here("model", env={"ANSWERABLE_MODEL": "openai:gpt-5", "OPENAI_API_KEY": SECRET}).stdout
    assert "openai:gpt-5 (set by ANSWERABLE_MODEL)" in shown
    assert "passages of your documents, are sent to api.openai.com." in shown
    assert "$1.25 per million tokens read, $10 written" in shown
    assert "has a key (OPENAI_API_KEY)" in shown
    assert SECRET not in shown
    embedding = {"ANSWERABLE_EMBEDDER": "cohere", "ANSWERABLE_MODEL": "ollama:gpt-oss:120b-cloud"}
    shown = run_here("model", env=embedding).stdout
    assert "are sent to ollama.com." in shown
    assert "also sent to api.cohere.com, to be embedded." in shown


def test_a_model_of_ollama_is_tried_and_kept(ollama: ScriptedServer) -> None:
    write("answerable.toml", 'quotes = 2  # few\r\nmodel = "extractive" # none\r\n\r\nthreads = 1')
    done = run_here("model", "ollama:qwen3:4b")
    assert done.returncode == 0, done.stderr
    assert f"Nothing leaves this machine: Ollama runs at {ollama.url[7:]}." in done.stdout
    (request,) = ollama.requests
    assert (request.body["model"], len(request.body["messages"])) == ("qwen3:4b", 1)
    file = configuration_folder() / "answerable.toml"
    assert file.read_bytes() == b'quotes = 2  # few\r\nmodel = "ollama:qwen3:4b" # none\r\n\r\nthreads = 1'
    assert load_settings().model == "ollama:qwen3:4b"
    run_here("model", "extractive")
    assert load_settings().model == "extractive"
    assert len(ollama.requests) == 1


def test_an_address_and_a_key_are_kept_and_the_key_is_told_to_nobody_else(
    server: ScriptedServer, tmp_path: Path
) -> None:
    write("answerable.toml", "# mine")
    arguments = ("model", "openai:tiny", "--address", f"{server.url}/v1", "--key")
    done = run_here(*arguments, typed=f"{SECRET}\n")
    assert done.returncode == 0, done.stderr
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert kept() == f'# mine\nopenai_base_url = "{server.url}/v1"\nmodel = "openai:tiny"\n'
    assert kept("keys.toml") == f'openai_api_key = "{SECRET}"\n'
    assert stat.S_IMODE((configuration_folder() / "keys.toml").stat().st_mode) == 0o600
    assert "if the server at 127.0.0.1" in done.stdout
    (tmp_path / "gate.txt").write_text("The gate is blue.")
    library = ("--library", tmp_path / "library")
    server.script(CHAT, failure(401, f"no such key: {SECRET}"))
    others = [
        run_here("add", tmp_path / "gate.txt", *library),
        run_here("ask", "What colour is the gate?", "--verbose", *library),
        run_here("doctor", "--json", *library),
        run_here("model", "--json"),
        run_here("model", "openai:large", env={"ANSWERABLE_TRACEBACK": "1"}),
    ]
    assert server.requests[-1].headers["authorization"] == f"Bearer {SECRET}"
    assert "openai_api_key=***" in others[2].stdout
    assert not any(SECRET in each.stdout + each.stderr for each in (done, *others))
    assert run_here("model", "--forget-key").returncode == 0
    assert (kept("keys.toml"), load_settings().model) == ("", "openai:tiny")


def test_what_fails_keeps_nothing_and_says_what_to_do(ollama: ScriptedServer) -> None:
    address = ("--address", f"{ollama.url}/v1")
    refused = failure(401, f"Incorrect API key provided: {SECRET}.", "invalid_api_key")
    ollama.script(CHAT, refused)
    fails(run_here("model", "openai:x", *address, "--key", typed=SECRET), "401", "Check OPENAI_API_KEY")
    ollama.script(CHAT, failure(404, "model 'qwen3:5b' not found", "model_not_found"))
    fails(run_here("model", "ollama:qwen3:5b"), "ollama pull qwen3:5b", "It has: ollama:qwen3:4b, ollama:qwen3:1.7b.")
    ollama.script("/v1/models", json_reply({"object": "list", "data": []}))
    fails(run_here("model", "ollama:qwen3:5b"), "It has no models yet.")
    down = {"ANSWERABLE_OLLAMA_BASE_URL": "http://127.0.0.1:9/v1"}
    fails(run_here("model", "ollama:qwen3", env=down), "Ollama doesn't answer at 127.0.0.1:9", "ollama serve")
    fails(run_here("model", "openai:gpt-5-nano"), "answerable model openai --key")
    fails(run_here("model", "openai:x", "--address", "localhost"), "openai_base_url is not a valid address")
    fails(run_here("model", "openai:x", "--key", typed=""), "No key was given")
    fails(run_here("model", "openai:x", "--key", typed="sk-\x01"), "invalid characters")
    fails(run_here("model", "ollama:x", "--key", typed=SECRET), "llama takes no key")
    fails(run_here("model", "--key", typed=SECRET), "Name one too")
    # A key typed as an argument isn't repeated.
    fails(run_here("model", "openai:x", "--key", SECRET), "--key asks")
    fails(run_here("model", SECRET, "--key"), "names no provider")


def test_the_environment_comes_before_the_kept_key_and_is_named(server: ScriptedServer) -> None:
    environment = {"OPENAI_API_KEY": "sk-of-the-environment", "ANSWERABLE_MODEL": "extractive"}
    done = run_here("model", "openai:gpt-5-nano", "--key", "--no-test", typed=SECRET, env=environment)
    assert "OPENAI_API_KEY sets openai_api_key too, and comes first" in done.stderr
    assert "ANSWERABLE_MODEL sets model too" in done.stderr
    assert load_settings(environment=environment).openai_api_key == "sk-of-the-environment"
    assert load_settings(environment={}).openai_api_key == SECRET
    write("answerable.toml", 'openai_api_key = "sk-of-the-file"')
    assert load_settings(environment={}).openai_api_key == "sk-of-the-file"


def test_a_key_is_not_sent_to_another_address_than_it_was_given_for(server: ScriptedServer) -> None:
    assert run_here("model", "openai:gpt-5-nano", "--key", "--no-test", typed=SECRET).returncode == 0
    done = run_here("model", "openai:tiny", "--address", f"{server.url}/v1")
    assert done.returncode == 0, done.stderr
    assert "the kept openai_api_key is forgotten" in done.stderr
    assert SECRET not in str([request.headers for request in server.requests])
    assert kept("keys.toml") == ""
    elsewhere = ("model", "openai:tiny", "--address", "http://models.example.org/v1")
    done = run_here(*elsewhere, env={"OPENAI_API_KEY": SECRET})
    assert "The key that OPENAI_API_KEY sets would be sent to models.example.org." in done.stderr
    assert run_here("model", "openai:tiny", "--address", "", "--no-test").returncode == 0
    assert "openai_base_url" not in kept()


def test_a_key_file_that_others_may_read_is_refused() -> None:
    path = write("keys.toml", f'openai_api_key = "{SECRET}"', mode=0o640)
    for command in ("model", "doctor"):
        done = run_here(command)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"chmod 600 '{path}'" in done.stderr
    path.chmod(0o600)
    assert load_settings().openai_api_key == SECRET


@pytest.mark.parametrize("text", ["openai_api_key = 5", f'{SECRET} = "x"', 'model = "x"', f"openai_api_key = {SECRET}"])
def test_no_error_in_the_key_file_quotes_it(text: str) -> None:
    path = write("keys.toml", text)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(path) in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "5;" not in str(caught.value)


@pytest.mark.parametrize("text", ['model = """\nextractive"""\n', "'model' = '''extractive'''\n"])
def test_an_unusual_file_is_left_as_it_is(text: str) -> None:
    write("answerable.toml", text)
    done = run_here("model", "openai:x", "--no-test")
    assert "in an unusual way" in done.stderr
    assert kept() == text


def test_a_terminal_does_not_show_the_key(server: ScriptedServer) -> None:
    command = [*COMMAND, "model", "openai:tiny", "--address", f"{server.url}/v1", "--key"]
    ended = Terminal(command, env=dict(os.environ))
    ended.expect_exact("(not shown)")
    ended.send("\x04")
    ended.expect_exact("No key was given")
    typing = Terminal(command, env=dict(os.environ))
    typing.expect_exact("(not shown)")
    typing.sendline(SECRET)
    typing.expect_exact("openai:tiny (set by")
    assert SECRET not in typing.before
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


def test_a_real_server_takes_its_key_and_refuses_others() -> None:
    with llama_server() as llama:
        arguments = ("model", "openai:smollm2", "--address", llama.url, "--key")
        fails(run_here(*arguments, typed=SECRET), "Check OPENAI_API_KEY")
        done = run_here(*arguments, typed=KEY)
        assert done.returncode == 0, done.stderr
        assert KEY not in done.stdout + done.stderr
    assert (load_settings().openai_api_key, load_settings().model) == (KEY, "openai:smollm2")


def test_a_server_that_repeats_the_key_in_its_answer_is_not_shown(server: ScriptedServer) -> None:
    def echo(request: Request) -> Reply:
        return json_reply({"error": {"message": request.headers["authorization"]}}, 400)

    server.script(CHAT, echo)
    done = run_command("model", "openai:x", "--no-test", "--json")
    assert done.returncode == 0
    arguments = ("model", "openai:x", "--address", f"{server.url}/v1", "--key")
    done = run_here(*arguments, typed=SECRET)
    assert done.returncode == 2
    assert SECRET not in done.stdout + done.stderr
