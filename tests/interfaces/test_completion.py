"""What the shell completes: documents, people and languages of the library, quickly and without a word of error."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from commands import COMMAND, run_command, run_here
from terminal import Terminal

import answerable

CHAT = "Chat de WhatsApp con Viaje a Oaxaca.txt"


def completed(*words: str, library: Path | str, shell: str = "zsh") -> list[str]:
    """What is offered for the last of these words, without the quotes of the shell's syntax."""
    typed = " ".join(map(shlex.quote, ["answerable", *words[:-1]])) + f" {words[-1]}"
    done = run_here(
        env={
            "_ANSWERABLE_COMPLETE": f"complete_{shell}",
            "_TYPER_COMPLETE_ARGS": typed,
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(words)),
            "ANSWERABLE_LIBRARY": library,
        }
    )
    assert (done.returncode, done.stderr) == (0, "")
    if shell == "bash":
        return done.stdout.split("\n")[:-1]
    return re.findall(r'"(.*?)"', done.stdout)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("show", ""), [r"Chat\ de\ WhatsApp\ con\ Viaje\ a\ Oaxaca.txt", "espresso-machine-guide.md"]),
        (("show", "chat"), [r"Chat\ de\ WhatsApp\ con\ Viaje\ a\ Oaxaca.txt"]),
        (("remove", "oax"), [r"Chat\ de\ WhatsApp\ con\ Viaje\ a\ Oaxaca.txt"]),
        (("ask", "x", "--source", "horta"), ["horta-na-varanda.html"]),
        (("ask", "x", "--from", "Ana"), [r"Ana\ Lucía"]),
        (("search", "x", "--from", "JULIAN"), ["Julián"]),
        (("search", "x", "--from", "lucia"), [r"Ana\ Lucía"]),
        (("search", "x", "--language", ""), ["en", "es", "pt"]),
        (("search", "x", "--type", "pd"), ["pdf"]),
        (("show", "nothing"), []),
        (("sea",), ["search"]),
    ],
)
def test_names_of_the_library_are_offered(example_library: Path, words: tuple[str, ...], offered: list[str]) -> None:
    found = completed(*words, library=example_library, shell="bash")
    assert [name for name in found if name][: len(offered)] == offered


def test_other_shells_quote_the_names_themselves(example_library: Path) -> None:
    assert completed("show", "chat", library=example_library) == [CHAT]


def test_files_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    library = tmp_path / "library"
    with answerable.open(library) as opened:
        for folder in ("march", "april"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "notes.txt").write_text(f"The {folder} meeting.")
            opened.add(tmp_path / folder)
        page = answerable.Document.from_text("Opening hours.", source="https://x.org/a", title="Harbour: hours")
        opened.add_documents([page])
    assert completed("show", "", library=library, shell="bash") == [
        r"Harbour:\ hours",
        "april/notes.txt",
        "march/notes.txt",
    ]


@pytest.mark.parametrize("library", ["/nowhere", "https://x.org", "postgresql://nobody@127.0.0.1:9/none", ""])
def test_without_a_library_nothing_is_offered_and_nothing_said(tmp_path: Path, library: str) -> None:
    assert not any(completed("show", "x", library=library or tmp_path, shell="bash"))
    broken = {"_ANSWERABLE_COMPLETE": "complete_bash", "COMP_WORDS": "answerable show x", "COMP_CWORD": "two"}
    done = run_command(env=broken)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_completing_does_not_load_the_engine() -> None:
    code = "import sys; import answerable.interfaces.cli.main; print([name for name in {!r} if name in sys.modules])"
    heavy = ["numpy", "answerable.library", "rich.console", "importlib.metadata", "sqlite3"]
    done = subprocess.run([sys.executable, "-c", code.format(heavy)], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_bash_completes_a_file_name_with_spaces(example_library: Path, tmp_path: Path) -> None:
    command = tmp_path / "answerable"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o700)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "$ "}
    environment["ANSWERABLE_LIBRARY"] = str(example_library)
    with Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], environment, timeout=120, size=(24, 160)) as shell:
        shell.sendline('eval "$(_ANSWERABLE_COMPLETE=source_bash answerable)"; echo re""ady')
        shell.expect_exact("ready")
        # A busy machine may give up; pressing the key again then helps.
        for typed in ("show Chat", 'show "Chat'):
            shell.send(f"answerable {typed}\t")
            name = CHAT if '"' in typed else CHAT.replace(" ", r"\ ")
            for _ in range(5):
                try:
                    shell.expect_exact(name.removeprefix("Chat"), timeout=20)
                    break
                except pexpect.TIMEOUT:
                    shell.send("\t")
            else:
                pytest.fail(f"{typed} is not completed")
            # What is typed before the shell has seen Ctrl-C is lost, and so is Ctrl-C while it still completes.
            for _ in range(5):
                shell.sendintr()
                if shell.expect_exact(["\n$ ", pexpect.TIMEOUT], timeout=20) == 0:
                    break
            else:
                pytest.fail("the shell doesn't come back to its prompt")
