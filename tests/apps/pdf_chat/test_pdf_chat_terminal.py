"""`python ingest.py`, then `python chat.py`, in a fresh folder with a file .env, as a user runs them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pexpect
import pytest
from pdf_chat_parts import APP, CHAT, answers, embedded, prompts, refuses
from providers.scripted_server import ScriptedServer
from providers.scripted_server import chat as streamed
from reading_processes import wait_until
from terminal import Terminal

import chat
import ingest

SavePdf = Callable[..., Path]
InTerminal = Callable[..., AbstractContextManager[Terminal]]


class Ran(NamedTuple):
    """What became of a program."""

    status: int
    printed: str
    told: str


Run = Callable[..., Ran]

PROMPT = "Faça sua pergunta:"
REFUSAL = "Não tenho informações necessárias para responder sua pergunta."
ANSWER = "O faturamento foi de 10 milhões de reais em 2023."
SERVICE = "Erro ao comunicar com serviço externo. Tente novamente."
DATABASE = "Erro ao conectar ao banco de dados. Verifique se está rodando."


@pytest.fixture
def folder(environment: dict[str, str], save_pdf: SavePdf, tmp_path: Path) -> Path:
    """A fresh folder with a PDF beside it and a file .env that names everything."""
    save_pdf()
    folder = tmp_path / "nova pasta"
    folder.mkdir()
    lines = [f'{name}="{value}"' for name, value in environment.items()]
    (folder / ".env").write_text("\n".join(["# Configuração", *lines]), encoding="utf-8")
    return folder


def surroundings(environment: dict[str, str], **changes: str) -> dict[str, str]:
    """The environment of a program: nothing of what the file .env is to say, unless it is given."""
    kept = {name: value for name, value in os.environ.items() if name not in environment}
    # Whoever set it so: the application speaks UTF-8.
    return {**kept, "PYTHONIOENCODING": "latin-1", **changes}


@pytest.fixture
def run(folder: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a program's main function with what stands in its standard input: status, output and errors."""

    def run(program: Callable[[], int | None], typed: bytes = b"", **changes: str) -> Ran:
        # Whoever set it so: the application speaks UTF-8.
        streams = [io.TextIOWrapper(io.BytesIO(given), "latin-1") for given in (typed, b"", b"")]
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            for name in environment:
                patch.delenv(name, raising=False)
            for name, value in changes.items():
                patch.setenv(name, value)
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            status = program()
        printed, told = (stream.detach().getvalue().decode() for stream in streams[1:])
        return Ran(status or 0, printed, told)

    return run


@pytest.fixture
def terminal(folder: Path, environment: dict[str, str]) -> Callable[..., AbstractContextManager[Terminal]]:
    """Starts the chat in a terminal."""

    @contextmanager
    def start(**changes: str) -> Iterator[Terminal]:
        child = Terminal([sys.executable, APP / "chat.py"], surroundings(environment, **changes), folder)
        try:
            child.expect_exact(PROMPT)
            yield child
        finally:
            child.close()

    return start


def ended(child: Terminal) -> int:
    """Waits for the end of a program in a terminal; its exit status."""
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus is not None
    return child.exitstatus


def test_a_conversation(run: Run, terminal: InTerminal, server: ScriptedServer) -> None:
    assert run(ingest.main) == (0, "Ingestão concluída: 2 chunks processados\n", "")
    answers(server, ANSWER, REFUSAL, "A sede fica em São Paulo.")
    with terminal() as child:
        child.sendline("Qual foi o faturamento da SuperTechIABrazil em 2023?")
        child.expect_exact(f"RESPOSTA: {ANSWER}")
        child.expect_exact(PROMPT)
        child.sendline("Qual é a capital da França?")
        child.expect_exact(f"RESPOSTA: {REFUSAL}")
        child.expect_exact(PROMPT)
        child.sendline("")
        child.expect_exact(PROMPT)
        child.sendline("   ")
        child.expect_exact(PROMPT)
        child.sendline("Onde fica a sede, em São Paulo? 🏢")
        child.expect_exact("RESPOSTA: A sede fica em São Paulo.")
        child.expect_exact(PROMPT)
        assert embedded(server)[-1] == "Onde fica a sede, em São Paulo? 🏢"
        # Nothing was asked for the empty lines.
        assert len(prompts(server)) == 3
        # Ctrl-C during an answer.
        answers(server, streamed("A empresa foi fundada", 600.0, " em 1998."))
        child.sendline("Quando foi fundada?")
        wait_until(lambda: len(prompts(server)) == 4)
        child.sendintr()
        assert ended(child) == 0
        assert "Traceback" not in child.before
        assert "RESPOSTA" not in child.before
    assert server.disconnected.wait(30)


@pytest.mark.parametrize("word", [" Quit ", "sair", "EXIT"])
def test_the_words_that_end_it(run: Run, server: ScriptedServer, word: str) -> None:
    assert run(chat.main, f"{word}\nMais uma pergunta?\n".encode()) == (0, f"{PROMPT}\n", "")
    assert server.requests == []


@pytest.mark.long
def test_ctrl_c_at_the_prompt_ends_it(terminal: InTerminal) -> None:
    with terminal() as child:
        child.send("meia pergun")
        child.sendintr()
        assert ended(child) == 0
        assert "Traceback" not in child.before


@pytest.mark.long
def test_the_end_of_input_ends_it(terminal: InTerminal) -> None:
    with terminal() as child:
        child.sendeof()
        assert ended(child) == 0
        assert "Traceback" not in child.before


@pytest.mark.usefixtures("collection")
def test_bytes_that_are_no_utf_8_are_no_end(run: Run) -> None:
    done = run(chat.main, b"Qual foi o faturamento em S\xe3o Paulo?\n")
    assert (done.status, done.printed) == (0, f"{PROMPT}\nRESPOSTA: {ANSWER}\n{PROMPT}\n\n")


@pytest.mark.usefixtures("collection")
def test_errors_are_told_and_the_chat_goes_on(run: Run, server: ScriptedServer) -> None:
    refuses(server, CHAT, 404, "The model `gpt-5-nano` does not exist", "model_not_found")
    done = run(chat.main, b"Onde fica a sede?\nQual foi o faturamento?\n")
    assert (done.status, done.printed) == (0, f"{PROMPT}\n{SERVICE}\n" * 2 + f"{PROMPT}\n\n")
    assert done.told.count("corrija OPENAI_CHAT_MODEL") == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"DATABASE_URL": "postgresql://u:p@127.0.0.1:9/x"}, DATABASE),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, SERVICE),
        (
            {"PG_VECTOR_COLLECTION_NAME": ""},
            "Configuração inválida: a variável PG_VECTOR_COLLECTION_NAME não está definida; "
            "defina-a no ambiente ou no arquivo .env",
        ),
    ],
)
def test_what_users_are_told(run: Run, changes: dict[str, str], message: str) -> None:
    # The environment comes before the file .env.
    asked = run(chat.main, b"Onde fica a sede?\n", **changes)
    assert asked[:2] == (0, f"{PROMPT}\n{message}\n{PROMPT}\n\n")
    added = run(ingest.main, **changes)
    assert added[:2] == (1, "")
    assert added.told.startswith(f"{message}\n")


def test_a_missing_pdf_is_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "não existe.pdf"
    assert run(ingest.main, PDF_PATH=str(path)) == (1, "", f"Arquivo PDF não encontrado: {path}\n")


def test_a_pdf_without_text_is_told(run: Run, save_pdf: SavePdf) -> None:
    path = save_pdf("")
    assert run(ingest.main) == (1, "", f"O PDF não contém texto que possa ser extraído: {path}\n")


def test_a_file_env_that_is_not_utf_8_is_told(run: Run, folder: Path) -> None:
    (folder / ".env").write_bytes("# Configuração".encode("latin-1"))
    done = run(ingest.main)
    assert done.status == 1
    assert done.told.startswith("Configuração inválida: o arquivo ")


def test_the_specified_example_runs(
    environment: dict[str, str], save_pdf: SavePdf, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save_pdf()
    example = (
        "from ingest import ingest_pdf\n\ntry:\n    count = ingest_pdf()\n"
        '    print(f"Ingestão concluída: {count} chunks processados")\n'
        'except FileNotFoundError as e:\n    print(f"Erro: {e}")\n'
    )
    for path, printed in (
        (environment["PDF_PATH"], "Ingestão concluída: 2 chunks processados\n"),
        ("nada.pdf", "Erro: Arquivo PDF não encontrado: nada.pdf\n"),
    ):
        monkeypatch.setenv("PDF_PATH", path)
        exec(example, {})
        assert capsys.readouterr().out == printed


def test_ctrl_c_while_the_chat_starts_ends_it(folder: Path, environment: dict[str, str]) -> None:
    # Told of each import, one knows that they aren't over.
    child = Terminal([sys.executable, "-X", "importtime", APP / "chat.py"], surroundings(environment), folder)
    try:
        child.expect_exact("openai")
        child.sendintr()
        assert ended(child) == 0
        assert "Traceback" not in child.before
        assert PROMPT not in child.before
    finally:
        child.close()
