"""Where no bars can be drawn, a long command prints a line every ten seconds, and a quick one none."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from commands import EXAMPLES, run_command, run_here
from made_mail import letter, write_mailbox

import answerable
from answerable.interfaces.cli.progress import EVERY, add_progress, count_progress, working

OFTEN = 0.01


def told(capsys: pytest.CaptureFixture[str], count: int) -> list[str]:
    """The first lines on the error stream, once there are so many."""
    printed = ""
    while len(lines := printed.splitlines()) < count:
        time.sleep(OFTEN)
        printed += capsys.readouterr().err
    return lines[:count]


def test_adding_without_a_terminal_tells_how_far_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with answerable.open(tmp_path / "library") as library, add_progress(enabled=True, every=OFTEN) as progress:
        library.add(EXAMPLES, on_progress=progress)
        time.sleep(20 * OFTEN)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"file 1 of 4, 0 passages: Chat de WhatsApp con Viaje a Oaxaca\.txt", lines[0])
    assert re.fullmatch(r"file 4 of 4, \d+ passages, \d+\.\d/s, \d:\d\d:\d\d left: \S+", lines[-1])


def test_a_mailbox_is_named_and_not_the_ids_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    box = write_mailbox(tmp_path / "inbox.mbox", [letter("The pump runs at night.", id="CAF9x@mail.example.org")])
    with answerable.open(tmp_path / "library") as library, add_progress(enabled=True, every=OFTEN) as progress:
        library.add(box, on_progress=progress)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.endswith(": inbox.mbox") for line in lines), lines


def test_counting_without_a_terminal_tells_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with count_progress("documents", enabled=True, every=OFTEN) as count:
        count(3, 2_000)
        assert told(capsys, 2) == ["3 of 2,000 documents"] * 2


def test_a_step_that_takes_long_is_named_also_while_nothing_happens(capsys: pytest.CaptureFixture[str]) -> None:
    assert EVERY == 10
    with working("checking the library", enabled=True, every=OFTEN):
        assert told(capsys, 3) == ["checking the library: 0 s"] * 3
    told_before_the_end = capsys.readouterr()
    time.sleep(10 * OFTEN)
    assert capsys.readouterr() == ("", ""), told_before_the_end


def test_nothing_is_told_before_the_time_nor_to_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with answerable.open(tmp_path / "library") as library, add_progress(enabled=True, every=3600) as progress:
        library.add(EXAMPLES, on_progress=progress)
    with add_progress(enabled=False, every=0) as progress:
        assert progress is None
    with count_progress("documents", enabled=False, every=0) as count:
        count(3, 2_000)
    assert capsys.readouterr() == ("", "")


@pytest.mark.long
def test_the_command_tells_it(tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"{number}.md").write_text(
            f"# Note {number}\n\n" + f"The pump {number} runs at night. " * 60, "utf-8"
        )
    done = run_command("add", tmp_path, "--library", tmp_path / "library")
    assert re.match(r"(file \d+ of 400|making vectors), \d+ passages", done.stderr)
    assert run_here("add", EXAMPLES, "--library", tmp_path / "library").stderr == ""
