"""`answerable chat`: through a pipe, and in a real terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest
from commands import COMMAND, EXAMPLES, run_here
from providers.scripted_server import ScriptedServer, chat, handing_over
from terminal import Terminal
from typer.testing import CliRunner, Result

from answerable.interfaces.cli.main import app

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

Talk = Callable[..., Result]


@pytest.fixture
def talk(example_library: Path) -> Talk:
    """A conversation on the library of the examples, a line each."""

    def run(*lines: str, library: Path = example_library) -> Result:
        typed = "".join(f"{line}\n" for line in lines)
        return CliRunner().invoke(app, ["chat", "--library", str(library)], input=typed, prog_name="answerable")

    return run


def blocks(result: Result) -> list[str]:
    """What was printed for each line of a conversation without refusals: an answer has its places after a gap."""
    assert result.exit_code == 0, result.output
    return re.split(r"\n\n(?!\[1\])", result.stdout.rstrip("\n"))


def test_answers_are_those_of_ask(talk: Talk, example_library: Path) -> None:
    for question in ("How long does the warranty last?", "Who won the football world cup in 1998?"):
        asked = CliRunner().invoke(app, ["ask", question, "--library", str(example_library)])
        chatted = talk(question)
        shown = asked.stdout.replace("; --why shows", "; /sources shows")
        assert (chatted.exit_code, chatted.stdout, chatted.stderr) == (0, shown, "")


def test_a_spanish_conversation(talk: Talk) -> None:
    first, price, back = blocks(talk("¿A qué hora sale el autobús?", "¿y cuánto cuesta?", "¿y el de regreso?"))
    assert "7:30" in first
    assert "searching" not in first
    assert "1,040 pesos" in price.splitlines()[1]
    assert "16:00" in back.splitlines()[1]


def test_a_portuguese_conversation(talk: Talk) -> None:
    first, basil, sun = blocks(talk("Quando a alface fica pronta?", "e o manjericão?", "Quanto sol o alecrim precisa?"))
    assert "quarenta e cinco dias" in first
    assert "sexta semana" in basil
    assert "searching" not in sun
    assert "seis horas" in sun


def test_an_english_conversation(talk: Talk) -> None:
    lines = ("How much is membership?", "what about students?", "How long does the warranty last?")
    first, students, warranty = blocks(talk(*lines))
    assert "36 euros" in first
    assert "18 euros" in students
    assert "searching" not in warranty
    assert "24 months" in warranty


def test_a_refusal_in_the_language_of_the_conversation(talk: Talk) -> None:
    result = talk("¿Quién ganó el mundial de fútbol de 1998?", "¿y el de 2002?")
    assert result.exit_code == 0
    assert result.stdout.count("Los documentos no lo dicen.") == 2
    assert "searching: ¿Quién ganó el mundial de fútbol de 2002?" in result.stdout


def test_the_filter_stays_until_it_is_changed(talk: Talk) -> None:
    lines = (
        "/filter",
        '/filter from="Ana Lucía" since=2024-03-01',
        "¿Cuánto cuesta el autobús?",
        "¿y cuánto tarda?",
        "/filter from=julián",
        "/filter since=",
        "/filter none",
    )
    shown = blocks(talk(*lines))
    assert shown[0] == "filter: none"
    assert shown[1] == 'filter: from="Ana Lucía" since=2024-03-01'
    for answer in shown[2:4]:
        quotes = [line for line in answer.splitlines() if re.match(r"\S.*: “", line)]
        assert quotes
        assert all(line.startswith("Ana Lucía (2024-03-") for line in quotes)
    assert shown[4:] == ["filter: from=julián since=2024-03-01", "filter: from=julián", "filter: none"]


def test_filters_by_type_source_and_language(talk: Talk) -> None:
    guide = EXAMPLES / "espresso-machine-guide.md"
    for condition in ("type=markdown", f"source={guide}", f"SOURCE=“{guide}”", "language=en type=markdown type=chat"):
        shown = talk(f"/filter {condition}", "How long does the warranty last?", "/why").stdout
        assert "24 months" in shown
        assert ".pdf" not in shown


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("/filter Ana", ["'Ana'", "from=", "/filter none"]),
        ("/filter colour=red", ["'colour=red'", "language"]),
        ("/filter since=sometime", ["'sometime'", "2024-03-31"]),
        ("/filter type=film", ["'film'", "markdown"]),
        ("/filter source=nowhere.txt", ["nowhere.txt", "answerable list"]),
        ('/filter from="Ana', ["quote", "closed"]),
        ("/sorces", ["/sorces", "/help"]),
        ("/", ["/help"]),
        ("/why", ["Ask something first"]),
        ("/sources", ["Ask something first"]),
    ],
)
def test_a_bad_command_is_one_clear_line_and_the_chat_goes_on(talk: Talk, line: str, parts: list[str]) -> None:
    result = talk("/filter from=Nobody", line, "/filter none", "How long does the warranty last?")
    assert result.exit_code == 0
    assert re.fullmatch(r"error: \S.*\n", result.stderr)
    assert all(part in result.stderr for part in parts)
    # What was set before stays set, until it is changed.
    assert result.stdout.startswith("filter: from=Nobody\n\n")
    assert "24 months" in result.stdout


def test_a_missing_library_is_one_clear_line_a_question(talk: Talk, tmp_path: Path) -> None:
    result = talk("How long?", "/help", "/filter from=Ana", library=tmp_path / "none")
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("error: There is no library") for line in lines)
    assert "/sources" in result.stdout
    assert not (tmp_path / "none").exists()


def test_a_library_that_is_made_meanwhile_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    (tmp_path / "note.txt").write_text("The meeting is on Monday at the harbour.")
    process = subprocess.Popen(
        [*COMMAND, "chat", "-l", str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write("When is the meeting?\n")
    assert "no library" in process.stderr.readline()
    assert run_here("add", tmp_path / "note.txt", "-l", folder).returncode == 0
    output, errors = process.communicate("When is the meeting?\n", timeout=120)
    assert (process.returncode, errors) == (0, "")
    assert "on Monday at the harbour" in output


def test_sources_and_why(talk: Talk) -> None:
    shown = talk(
        "/filter type=pdf", "How much is membership?", "what about students?", "/filter none", "/sources", "/why"
    )
    assert (shown.exit_code, shown.stderr) == (0, "")
    after = shown.stdout.split("filter: none")[1]
    sources, _, why = after.partition("\nfilter ")
    place = r"riverside-library-rules\.pdf, page 1, Rules of the Riverside Tool Library › 1\. Membership"
    assert re.search(rf"\[1\] {place}\n    “[^”]+”\n    file:///.+#page=1\n", sources)
    assert "question: what about students?" in why
    # The filter that the answer was given under, not the one that is set now.
    assert why.lstrip().startswith("type=pdf\n")
    assert re.search(r"^Decide +.*confidence: \d+ % \(at least \d+ %\)$", why, re.M)
    assert re.search(r"^Time +\d+\.\d\d s$", why, re.M)
    assert re.search(r"^  1\. riverside-library-rules\.pdf, pages? 1.*  [01]\.\d{3} \(\d+, \d+\)$", why, re.M)


def test_the_sources_of_a_refusal(talk: Talk) -> None:
    shown = talk("Who won the football world cup in 1998?", "/sources", "/why")
    refused = r"^Refused: the best sentence, “.+”, has a chance of .+ of answering; \d+ % is needed$"
    assert re.search(rf"{refused}\nThe nearest passages:\n1\. ", shown.stdout, re.M)
    assert len(re.findall(refused, shown.stdout, re.M)) == 2
    nearest = r"outcome: weak evidence; nearest passage: .*\(at least \d+ %\); score of the search: "
    assert re.search(rf"^Decide .*{nearest}", shown.stdout, re.M)


@pytest.mark.parametrize("word", ["exit", "QUIT", "sair", "salir", "/exit", "/quit", " exit "])
def test_ways_out(talk: Talk, word: str) -> None:
    result = talk("", "  ", word, "How long does the warranty last?")
    assert (result.exit_code, result.output) == (0, "")


def test_the_end_of_input_is_no_error(talk: Talk, example_library: Path) -> None:
    assert (talk().exit_code, talk().output) == (0, "")
    last = CliRunner().invoke(app, ["chat", "-l", str(example_library)], input="How long does the warranty last?")
    assert last.exit_code == 0
    assert "24 months" in last.stdout


def test_what_looks_like_a_path_is_a_question(talk: Talk) -> None:
    result = talk("/etc/passwd what does it hold?")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, pytest.param({"LANG": "C", "LC_ALL": "C"}, marks=pytest.mark.long)],
)
def test_a_pipe_is_utf_8_whatever_the_locale(example_library: Path, environment: dict[str, str]) -> None:
    typed = "\ufeff¿Cuál es el código de la reserva?\r\n".encode() + b"\xff\xfe broken \x80 bytes\n"
    done = subprocess.run(
        [*COMMAND, "chat", "-l", str(example_library)],
        input=typed, capture_output=True, env={**os.environ, **environment},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"GLD-4471" in done.stdout
    assert b"> " not in done.stdout


def test_hostile_text_does_not_reach_the_terminal(talk: Talk, tmp_path: Path) -> None:
    evil = "The secret word is \x1b[31mswordfish\x1b[0m and [bold red]not[/bold red] \x9b2J \u202eelbisivni\u202c. "
    (tmp_path / "evil\x1b[2J\u202e.md").write_text(evil * 2 + "/filter none\n\nexit\n")
    library = tmp_path / "library"
    assert run_here("add", tmp_path, "-l", library).returncode == 0
    result = talk(
        "What is the \x1b[31msecret\x1b[0m \u202eword\x07?",
        "and [bold]the\x1b]0;owned\x07 [red]place\u2066?",
        "/sources",
        "/why",
        '/filter from="\x1b[2J [blink]\u202e"',
        "/filter",
        "/filter \x1b[2J=1",
        "/filter none",
        "/what\x1b",
        "'; DROP TABLE documents; --",
        "\x00",
        "x" * 1_000,
        "What is the secret word?",
        library=library,
    )
    assert result.exit_code == 0
    assert not UNSAFE.search(result.output)
    assert "[bold red]not[/bold red]" in result.stdout
    assert "swordfish" in result.stdout.rsplit("searching", 1)[-1]


def test_a_reader_that_goes_away_is_no_error(example_library: Path) -> None:
    lines = "How long does the warranty last?\\n" * 3
    pipeline = f'printf "{lines}" | {sys.executable} -m answerable chat -l "{example_library}" | head -c 1 >/dev/null'
    assert subprocess.run(["bash", "-c", pipeline], capture_output=True, text=True).stderr == ""


@pytest.fixture
def terminal(example_library: Path) -> Terminal:
    """The chat in a real terminal, at its first prompt."""
    return _at_the_prompt(example_library)


def _at_the_prompt(library: Path) -> Terminal:
    spawned = Terminal([*COMMAND, "chat", "-l", library], size=(24, 100))
    spawned.expect_exact("/help lists")
    spawned.expect_exact("> ")
    return spawned


def _ask(terminal: Terminal, line: str, expected: str) -> None:
    terminal.sendline(line)
    terminal.expect(expected)
    terminal.expect_exact("> ")


def _status(terminal: Terminal) -> int | None:
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.signalstatus is None
    return terminal.exitstatus


def test_a_terminal_has_a_prompt_editing_and_history(terminal: Terminal) -> None:
    _ask(terminal, "¿A qué hora sale el autobús?", "7:30")
    _ask(terminal, "¿y cuánto cuesta?", "1,040 pesos")
    terminal.send("\x1b[A\x1b[A\r")  # the question before the last one
    terminal.expect("7:30")
    terminal.expect_exact("> ")
    terminal.send("xexit\x01\x04\r")  # to the beginning of the line, delete a letter
    assert _status(terminal) == 0
    assert not list(Path.home().rglob("*history*"))


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_control_c_and_control_d_at_the_prompt_end_the_chat(terminal: Terminal, key: str) -> None:
    _ask(terminal, "", "")
    terminal.send(key)
    assert _status(terminal) == 0
    assert "rror" not in terminal.before
    assert terminal.before.endswith("\n")


def test_control_c_during_an_answer_goes_back_to_the_prompt(
    example_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer() as server:
        first = handing_over("The warranty lasts"), chat("It lasts ", 600.0, "for ever.")
        server.script("/v1/chat/completions", *first, handing_over(), chat("It lasts 24 months [1]."), chat("[]"))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("ANSWERABLE_MODEL", "openai:scripted")
        terminal = _at_the_prompt(example_library)
        terminal.sendline("/filter type=markdown")
        terminal.expect_exact("filter: type=markdown")
        terminal.expect_exact("> ")
        terminal.sendline("How long does the warranty last?")
        terminal.expect("It lasts")
        terminal.sendintr()
        terminal.expect("interrupted")
        terminal.expect_exact("> ")
        assert server.disconnected.wait(25)
        _ask(terminal, "How long does the warranty last?", "24 months")
        terminal.sendline("/exit")
        assert _status(terminal) == 0
