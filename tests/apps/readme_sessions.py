"""A README's commands, run one after the other in a fresh copy of the project, as somebody who follows it runs them.

Commands are what follows `$ ` in blocks of `console` and every line of blocks of `bash`, all of one shell that begins
in the project's folder. Blocks of `python` are programs, run where the commands before them led to; those with nothing
but words between them are one. What is shown below a command, or in a block of `text` behind a program, is what it must
print; `…`, with the blanks around it, stands for anything.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Read here, since every test runs with a home of its own: whoever installs has pip's settings and cache in theirs.
_HOME = {name: os.environ.get(name, "") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
_BLOCK = re.compile(r"^```(console|bash|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?", re.MULTILINE)
_INSTALLS = re.compile(r"python3? -m (venv|pip) |(\S*/)?pip install |uv ")
_NOT_IN_A_CLONE = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", ".env", "__pycache__", "build")


@dataclass(frozen=True)
class Step:
    """A command or, where `is_program`, a Python program, and what it is shown to print."""

    text: str
    shown: str = ""
    is_program: bool = False


@dataclass(frozen=True)
class Surroundings:
    """What the README leaves to its reader.

    `here` has, for what stands in the README, what stands for it on this machine, in commands and in what they print.
    `typed` are the lines that a user types, `servers` the beginnings of commands that don't end, with what they print
    once they serve.
    """

    here: Mapping[str, str] = field(default_factory=dict)
    typed: Sequence[str] = ()
    servers: Mapping[str, str] = field(default_factory=dict)


def steps(readme: str) -> list[Step]:
    """The commands and programs of a README, in order."""
    found: list[Step] = []
    for language, text in _BLOCK.findall(readme):
        last = found[-1] if found else Step("")
        if language == "console":
            pieces = _COMMAND.split(text)
            assert not pieces[0].strip(), f"output without a command: {pieces[0]}"
            found += [Step(*pair) for pair in zip(pieces[1::2], pieces[2::2], strict=True)]
        elif language == "bash":
            found += [Step(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]
        elif language == "text":
            assert last.is_program, f"output without a program: {text}"
            found[-1] = Step(last.text, last.shown + text, True)
        elif last.is_program:
            found[-1] = Step(f"{last.text}\n{text}", last.shown, True)
        else:
            found.append(Step(text, "", True))
    return found


def run_readme(readme: str, folder: Path, around: Surroundings, from_scratch: bool, project: Path = ROOT) -> None:
    """Runs the steps of a README in an empty folder, in a copy of the project, and compares what they print with it.

    Without `from_scratch`, what makes environments and installs is left out: `.venv` is the environment of the tests.
    Raises AssertionError with what the failing step printed.
    """
    copy = folder / "answerable"
    shutil.copytree(project, copy, ignore=_NOT_IN_A_CLONE, symlinks=True)
    todo = [_adapted(step, around) for step in steps(readme)]
    if not from_scratch:
        (copy / ".venv").symlink_to(sys.prefix)
        todo = [step for step in todo if not _INSTALLS.match(step.text)]
    script = folder / "session.sh"
    script.write_text("\n".join(_lines(todo, folder, around)), "utf-8")
    try:
        status = _run(script, copy, _environment(folder, from_scratch))
    finally:
        # An environment takes half a gigabyte.
        shutil.rmtree(copy)
    for number, step in enumerate(todo):
        out, err = (folder / f"{number}.{kind}" for kind in ("out", "err"))
        assert out.exists(), f"the session ended ({status}) before: {step.text}"
        printed = out.read_text("utf-8")
        told = f"$ {step.text}\n{printed}\n{err.read_text('utf-8', 'replace')[-5000:]}"
        assert (folder / f"{number}.done").exists(), told
        shown = "\n".join(line for line in step.shown.splitlines() if line not in around.typed)
        assert not shown.strip() or _is_as_shown(shown, printed), f"{told}\nshown is:\n{shown}"
    assert status == 0


def _adapted(step: Step, around: Surroundings) -> Step:
    text, shown = step.text, step.shown
    for there, here in around.here.items():
        text, shown = text.replace(there, here), shown.replace(there, here)
    assert step.is_program or "…" not in text, f"the tests don't say what to put in place of …: {text}"
    return Step(text, shown, step.is_program)


def _lines(todo: Sequence[Step], folder: Path, around: Surroundings) -> Iterator[str]:
    """The session as a script: what each step prints goes to files of its own, and the first that fails ends it."""
    yield "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT"
    for number, step in enumerate(todo):
        files = folder / str(number)
        ready = next((said for begin, said in around.servers.items() if step.text.startswith(begin)), "")
        typed = "".join(f"{line}\n" for line in step.shown.splitlines() if line in around.typed)
        Path(f"{files}.in").write_text(step.text if step.is_program else typed, "utf-8")
        pipes = f">{files}.out 2>{files}.err <{files}.in"
        if ready:
            yield f"{step.text} {pipes} &"
            yield f"until grep -q '{ready}' {files}.out {files}.err; do kill -0 $! || exit 1; sleep 0.2; done"
        elif step.is_program:
            yield f"python - {pipes} || exit 1"
        else:
            yield f"{{ {_at_home(step.text)}\n}} {pipes} || exit 1"
        yield f"touch {files}.done"


def _at_home(command: str) -> str:
    if not _INSTALLS.match(command):
        return command
    return " ".join(f"{name}={value}" for name, value in _HOME.items()) + f" {command}"


def _environment(folder: Path, from_scratch: bool) -> dict[str, str]:
    """The environment of a session: no program of the tests' own environment in it if it makes one from scratch."""
    tests = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if from_scratch:
        tools = folder / "tools"
        tools.mkdir()
        if uv := shutil.which("uv", path=os.pathsep.join([tests, *path])):
            (tools / "uv").symlink_to(uv)
        path = [str(tools), f"{sys.base_prefix}/bin", *(entry for entry in path if entry != tests)]
    else:
        path.insert(0, tests)
    removed = ("VIRTUAL_ENV", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in removed}
    # The toolkit is a project of its own, which the environment of the tests doesn't have.
    added = {} if from_scratch else {"PYTHONPATH": str(folder / "answerable" / "apps" / "toolkit" / "src")}
    return {**kept, **added, "PATH": os.pathsep.join(path), "PYTHONIOENCODING": "utf-8"}


def _run(script: Path, copy: Path, environment: Mapping[str, str]) -> int:
    process = subprocess.Popen(["bash", script], cwd=copy, env=environment, start_new_session=True)
    try:
        return process.wait()
    finally:
        # A test that is ended in the middle leaves nothing running.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _is_as_shown(shown: str, printed: str) -> bool:
    pattern = ".*?".join(re.escape(piece.strip()) for piece in shown.split("…"))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None
