"""The commands with a model behind them: a real one, and one that fails as it is told to."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pexpect
import pytest
from example_library import example_library_folder
from interfaces.commands import COMMAND, run_command, run_here
from providers.real_servers import RealServer
from providers.scripted_server import (
    Ending,
    Reply,
    ScriptedServer,
    calling,
    chat,
    chunk,
    failure,
    handing_over,
    json_reply,
    sse_reply,
)
from terminal import Terminal

QUESTION = "¿Cuánto cuesta el autobús?"
COMPLETIONS = "/chat/completions"
FARE = "Cuesta 1,040 pesos por persona y tarda unas seis horas y media"
OTHER = "Mejor el autobús que manejar. Compro los tres boletos mañana"
LONG = pytest.mark.long


@pytest.fixture
def library(cache_folder: Path) -> Path:
    """A library that is only asked."""
    return example_library_folder(cache_folder)


def surroundings(address: str, library: Path, key: str = "sk-secret-of-the-test") -> dict[str, str | Path]:
    return {
        "OPENAI_BASE_URL": address,
        "OPENAI_API_KEY": key,
        "ANSWERABLE_MODEL": "openai:smollm2",
        "ANSWERABLE_LIBRARY": library,
        # It starts at once, and a question is all that is embedded.
        "ANSWERABLE_READER": "off",
        # The real model holds 2,048 tokens in all.
        "ANSWERABLE_CONTEXT_TOKENS": "400",
        "ANSWERABLE_ANSWER_TOKENS": "60",
    }


def test_a_real_model_writes_and_its_text_is_shown(llama: RealServer, library: Path) -> None:
    done = run_command("ask", QUESTION, "--json", env=surroundings(llama.url, library, llama.key))
    found = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert found["model"] == "openai:smollm2"
    # The real model may write more than its 60 tokens.
    assert found["problem"] == "" or "stopped at 60 tokens" in found["problem"]
    assert found["text"]
    assert found["usage"]["output_tokens"] > 0
    assert len(found["checks"]) > 0
    # A small model may cite nothing and babble: that is shown, too, sentence by sentence.
    whole = [check["text"] for check in found["checks"] if check["text"] in found["text"]]
    assert len(whole) == len(found["checks"])


@pytest.mark.long
def test_ctrl_c_stops_the_real_model_on_its_server_too(llama: RealServer, library: Path) -> None:
    settings = {
        **surroundings(llama.url, library, llama.key),
        "ANSWERABLE_REFUSE": "false",
        "ANSWERABLE_ANSWER_TOKENS": "1000",
    }
    command = in_terminal("ask", "Tell all that the documents say on the bus, at great length.", settings)
    _wait_until(llama.is_busy, 120)
    command.sendintr()
    command.expect(pexpect.EOF)
    command.close()
    assert command.exitstatus == 130
    _wait_until(lambda: not llama.is_busy(), 10)


def test_on_a_terminal_an_answer_grows_and_is_then_marked(server: ScriptedServer, library: Path) -> None:
    written = chat("El autobús cuesta ", 1.5, "mil dólares [1]. ", 0.5, "Son 1,040 pesos [1].")
    searching = calling("search", queries=["precio del autobús"])
    evidence = handing_over(FARE)
    later = replace(evidence, pieces=(1.0, *evidence.pieces))
    server.script(COMPLETIONS, searching, later, written, chat("[]"))
    command = in_terminal("ask", QUESTION, surroundings(server.url, library))
    command.expect("buscando: precio del autobús")
    command.expect("El autobús cuesta")
    rest = command.read()
    command.close()
    assert command.exitstatus == 0
    draft, _, final = rest.rpartition("mil dólares [1]")
    assert draft
    assert "[comprobar]" in final
    assert "Son 1,040 pesos [1]." in final
    assert "palabras halladas, cifras coinciden: 1; por comprobar: 1" in final


@pytest.mark.long
def test_on_a_terminal_marks_are_resolved_while_the_answer_grows(server: ScriptedServer, library: Path) -> None:
    written = chat("El autobús cuesta 1,040 pesos [1]. Y ", 3.0, "más [99] [2].")
    server.script(COMPLETIONS, handing_over(FARE, OTHER), written, chat("[]"))
    command = in_terminal("ask", QUESTION, surroundings(server.url, library))
    # A citation's place, dim, under the text.
    command.expect(r"\x1b\[2m\[1\] ([^\x1b\r\n]+)\x1b")
    assert command.match is not None
    place = command.match[1].strip()
    assert "más" not in command.before
    rest = command.read()
    command.close()
    assert command.exitstatus == 0
    assert re.search(r"\x1b\[2m\[2\] \S", rest)
    # A mark without evidence isn't shown.
    assert "[99]" not in rest
    draft, _, final = rest.rpartition("Y más [2].")
    assert place in draft
    assert place in final


def test_ctrl_c_reaches_the_server(server: ScriptedServer, library: Path) -> None:
    server.script(COMPLETIONS, handing_over(FARE), chat("El autobús cuesta ", 60.0, "nada."))
    command = in_terminal("ask", QUESTION, surroundings(server.url, library))
    command.expect("El autobús cuesta")
    command.sendintr()
    command.expect(pexpect.EOF)
    command.close()
    assert command.exitstatus == 130
    assert server.disconnected.wait(60)


FAILURES = {
    "too many requests": failure(429, "slow down", retry_after=0),
    "a fault of the server": failure(500, "boom"),
    "a wrong key": failure(401, "Incorrect API key provided: sk-secret-of-the-test"),
    "no such model": failure(404, "no such model", code="model_not_found"),
    "retired": failure(410, "gone"),
    "a cut stream": sse_reply(chunk("El autobús "), ending=Ending.CUT),
    "no JSON": Reply(200, {"Content-Type": "text/event-stream"}, (b"data: {nonsense\n\n",)),
    "filtered": sse_reply(chunk(finish="content_filter")),
}


@pytest.mark.parametrize("reply", FAILURES.values(), ids=FAILURES)
def test_a_failing_provider_costs_neither_the_answer_nor_the_conversation(
    server: ScriptedServer, library: Path, reply: Reply
) -> None:
    server.script(COMPLETIONS, reply)
    done = run_here("ask", QUESTION, env=surroundings(server.url, library))
    assert done.returncode == 0
    assert "1,040 pesos" in done.stdout
    assert done.stdout.count("1,040 pesos") == 1
    assert "Here are quotes instead." in done.stderr
    assert "sk-secret" not in done.stdout + done.stderr


def test_a_model_that_never_ends_costs_neither_the_answer_nor_much_time(server: ScriptedServer, library: Path) -> None:
    endless = [chunk("El autobús cuesta “1,040 pesos” [1]. ")] + [chunk("La la la, y la. " * 10)] * 5_000
    server.script(COMPLETIONS, sse_reply(*endless, ending=Ending.HANG))
    started = time.monotonic()
    done = run_here("ask", QUESTION, env={**surroundings(server.url, library), "ANSWERABLE_ANSWER_TOKENS": "2000"})
    assert done.returncode == 0, done.stderr
    assert "1,040 pesos" in done.stdout
    assert "stopped at 2000 tokens" in done.stderr
    assert "quotes instead" not in done.stderr
    assert time.monotonic() - started < 60


HOSTILE = (
    "\x1b]8;;https://evil.example/\x1b\\log in\x1b]8;;\x1b\\ \x1b]0;title\x07at\nhttps://evil.example/ " + "A" * 5_000
)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(failure(400, HOSTILE, code=HOSTILE, param=HOSTILE, kind=HOSTILE), id="refused"),
        pytest.param(failure(404, HOSTILE, code="model_not_found"), id="no model", marks=LONG),
        pytest.param(json_reply({"detail": [{"loc": ["body"], "msg": HOSTILE}]}, 422), id="a list", marks=LONG),
        pytest.param(json_reply({"error": HOSTILE}, 503, {"Retry-After": "0"}), id="a text", marks=LONG),
        pytest.param(
            sse_reply(json.dumps({"error": {"message": HOSTILE, "code": 400}})), id="in the stream", marks=LONG
        ),
    ],
)
def test_what_a_provider_says_holds_nothing_for_a_terminal(server: ScriptedServer, library: Path, reply: Reply) -> None:
    server.script(COMPLETIONS, reply)
    command = in_terminal("ask", QUESTION, surroundings(server.url, library))
    said = str(command.read())
    command.close()
    assert command.exitstatus == 0
    (line,) = [line for line in said.splitlines() if "evil.example" in line]
    assert "log in at evil.example/ AAA" in line
    assert "://evil" not in said
    assert "]8;" not in line
    assert "\x07" not in said
    assert len(line) < 600


def test_after_a_failure_the_conversation_goes_on(server: ScriptedServer, library: Path) -> None:
    server.script(
        COMPLETIONS,
        failure(401, "no"),
        handing_over(FARE),
        chat("Cuesta 1,040 pesos [1]."),
        chat("[]"),
    )
    typed = "¿A qué hora sale el autobús?\n¿y cuánto cuesta?\n/why\n"
    done = run_here("chat", env=surroundings(server.url, library), typed=typed)
    assert done.returncode == 0, done.stderr
    assert "7:30" in done.stdout
    assert "Cuesta 1,040 pesos [1]." in done.stdout
    assert "openai:smollm2" in done.stdout


def test_without_a_key_it_says_what_to_set(library: Path) -> None:
    done = run_here("ask", QUESTION, "--model", "openai:gpt-5-nano", "--library", library)
    assert done.returncode == 2
    assert "OPENAI_API_KEY" in done.stderr
    unknown = run_here("ask", QUESTION, "--model", "nobody:knows", "--library", library)
    assert unknown.returncode == 2
    assert "There is no model 'nobody:knows'" in unknown.stderr


def in_terminal(command: str, question: str, settings: Mapping[str, str | Path]) -> Terminal:
    environment = {**os.environ, **{name: str(value) for name, value in settings.items()}, "TERM": "xterm-256color"}
    return Terminal([*COMMAND, command, question], environment, size=(40, 100))


def _wait_until(holds: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
