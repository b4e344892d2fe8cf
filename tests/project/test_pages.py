"""The commands on the pages of the site are run as they stand there, each page in a folder of its own.

A page's blocks marked `console` (commands after `$`, then what they print; `…` stands for anything), `sh` and `python`
run one after the other in a fresh home, in a folder with the examples. What can't run here has a comment before it,
`<!-- not run: why -->`, and is listed below.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "CONTRIBUTING.md", *sorted((ROOT / "benchmarks").rglob("*.md"))]
NOT_RUN = {
    # Here nothing is installed, so as not to change the environment of the tests: test_installing.py, tests/smoke.sh.
    "installs": {
        **{"assistants": 1, "embedders": 1, "guides/chats": 1, "guides/pdfs": 1, "guides/team": 1, "install": 2},
        **{"mcp": 1, "server": 1, "start": 1},
    },
    "keeps running": {"assistants": 1, "guides/notes": 1, "guides/team": 1, "mcp": 2},
    "needs a container engine": {"guides/container": 3, "postgres": 1},
    "needs a download": {"guides/model": 1},
    "needs a file of yours": {"guides/pdfs": 1},
    "needs a key": {"guides/model": 2, "backup": 1},
    "needs a server": {"guides/model": 1, "guides/scale": 1, "openai": 1, "postgres": 2, "qdrant": 3},
    "needs a site of yours": {"guides/site": 1},
    "needs another machine": {
        "guides/scale": 1,
        "guides/team": 1,
        "mcp": 1,
        "scale": 1,
        "security": 1,
    },
    "needs Claude Code": {"assistants": 1},
    "needs files of yours": {"sync": 1, "verify": 1},
    "needs question sets": {"embedders": 1, "evaluation": 1, "quality": 1},
    "needs votes on the page": {"evaluation": 1},
    "takes days": {"reader": 1},
    "takes long": {"benchmarks/README": 2, "robustness": 1, "splitting": 1},
    # Run elsewhere.
    "guides/team.md does": {"server": 1},
    "tests/third_party/test_documented.py does": {"extending": 1},
    "tests/third_party/test_new_format.py does": {"extending": 1},
    "the module is yours": {"extending": 1},
}
"""Why which page has so many blocks that aren't run."""
QUICK = ("index", "security")
"""Pages that stand for the others in the short run."""
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<why>.+?) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(r"\$ |(?:\S*/)?(?:answerable|pip|python3?|docker|make|curl|export|uv|uvx|pipx|claude|npx) ")
END = "\x1e"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `why` it is not run, if it isn't."""

    kind: str
    text: str
    why: str

    def steps(self) -> Iterator[tuple[str, str]]:
        """The commands and what each prints; of a script only its text."""
        if self.kind == "sh":
            yield self.text, "…"
            return
        lines: list[str] = []
        for line in [*self.text.splitlines(), "$ "]:
            if line.startswith("$ ") and lines:
                command, shown = _split(lines)
                yield command, shown
                lines = []
            lines.append(line)


def _split(lines: Sequence[str]) -> tuple[str, str]:
    """A command, with its further lines or the text that it takes up to END, and what it prints."""
    size = lines.index("END") + 1 if lines[0].endswith("<<END") else 1
    while lines[size - 1].endswith("\\"):
        size += 1
    return "\n".join([lines[0].removeprefix("$ "), *lines[1:size]]), "\n".join(lines[size:])


def name(page: Path) -> str:
    """A page's name in this file."""
    return str(page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).with_suffix(""))


def blocks(page: Path) -> list[Block]:
    """The blocks of a page."""
    found = BLOCK.finditer(page.read_text("utf-8"))
    return [Block(each["kind"], each["text"], each["why"] or "") for each in found]


def run_blocks(page: Path) -> list[Block]:
    """Those that are run."""
    return [block for block in blocks(page) if block.kind in ("console", "sh", "python") and not block.why]


RUN = {name(page): page for page in PAGES if run_blocks(page)}


def test_what_is_not_run_is_listed_with_its_reason() -> None:
    counted = Counter((block.why, name(page)) for page in PAGES for block in blocks(page) if block.why)
    listed = {(why, page): count for why, pages in NOT_RUN.items() for page, count in pages.items()}
    assert dict(counted) == listed


def test_every_command_is_in_a_block_that_is_run_or_says_why_not() -> None:
    unmarked = [
        f"{name(page)}: {block.text.splitlines()[0]}"
        for page in PAGES
        for block in blocks(page)
        if block.kind not in ("console", "sh", "python") and COMMAND.match(block.text)
    ]
    assert unmarked == []


@pytest.mark.parametrize(
    "page", [pytest.param(each, marks=() if each in QUICK else pytest.mark.long) for each in sorted(RUN)]
)
@pytest.mark.usefixtures("examples_embedded")
def test_the_commands_of_a_page_do_what_it_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, folder = tmp_path / "home", tmp_path / "home" / "answerable"
    copytree(ROOT / "examples", folder / "examples")
    command = tmp_path / "commands" / "answerable"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m answerable "$@"\n', "utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    for kind in ("CONFIG", "DATA"):
        monkeypatch.delenv(f"XDG_{kind}_HOME")
    for block in run_blocks(RUN[page]):
        if block.kind == "python":
            subprocess.run([sys.executable, "-c", block.text], cwd=folder, check=True, timeout=900)
        else:
            _run(list(block.steps()), folder, home)


def _run(steps: Sequence[tuple[str, str]], folder: Path, home: Path) -> None:
    """Run the steps in one shell, and compare what each prints; what they started in the background ends with them."""
    script = "\n".join(f"{command}\nprintf '{END}'" for command, _ in steps)
    with (
        open(folder.parent / "errors", "w+b") as errors,
        subprocess.Popen(
            ["bash", "-euc", script], cwd=folder, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        ) as shell,
    ):
        try:
            output, _ = shell.communicate(timeout=900)
        finally:
            _end(shell.pid)
        errors.seek(0)
        said = errors.read().decode()
    printed = output.decode().replace(home.as_uri(), "file:///home/you").replace(str(home), "/home/you").split(END)
    assert shell.returncode == 0, f"{steps[len(printed) - 1][0]}\n{printed[-1]}\n{said}"
    for (command, shown), done in zip(steps, printed, strict=False):
        pattern = ".*?".join(map(re.escape, shown.strip().split("…")))
        assert re.fullmatch(pattern, done.strip(), re.DOTALL), f"$ {command}\n{done}\n{said}"


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
