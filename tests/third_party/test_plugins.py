"""Plug-ins: what an installed package adds is used without a change here, and its failures name it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from interfaces.commands import run_here
from third_party.commands_elsewhere import Commands
from third_party.plugin_packages import EXAMPLE, install, install_example

SCRIPT = """Title: The Ferry

INT. KITCHEN - NIGHT

ANA
The key is under the blue flowerpot.

EXT. PIER - DAY

BEN
The ferry to Graciosa leaves at ten.
"""
RUNTIME = {"ANSWERABLE_READER": "off"}
TESTS = str(Path(__file__).parents[1])
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """The folder that packages are installed into."""
    folder = tmp_path / "packages"
    folder.mkdir()
    return folder


@pytest.fixture
def run(packages: Path, tmp_path: Path, cache_folder: Path) -> Iterator[Run]:
    """The command in a process that has the packages from its first use on, with a library of its own."""
    environment = {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(packages), TESTS, os.environ.get("PYTHONPATH", "")))),
        "ANSWERABLE_CACHE_FOLDER": str(cache_folder / "plugins"),
        "ANSWERABLE_LIBRARY": str(tmp_path / "library"),
    }
    with closing(Commands({**os.environ, **RUNTIME, **environment})) as commands:
        yield commands.run


def states(run: Run) -> dict[str, tuple[str, str]]:
    """The state and detail of each plug-in, by kind, name and package."""
    done = run("plugins", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["plugins"]
    return {f"{each['kind']} {each['name']} {each['package']}": (each["state"], each["detail"]) for each in found}


def test_the_example_is_short() -> None:
    files = [path for path in EXAMPLE.iterdir() if path.is_file()]
    assert sorted(path.name for path in files) == ["answerable_fountain.py", "pyproject.toml"]
    assert sum(len(path.read_text("utf-8").splitlines()) for path in files) <= 40


def test_the_example_reads_screenplays(run: Run, packages: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "ferry.fountain").write_text(SCRIPT)
    (folder / "notes.md").write_text("# Notes\n\nThe boat is called Ilhas.\n")
    # Without the plug-in both are texts.
    assert json.loads(run_here("add", folder, "--dry-run", "--json").stdout)["added"] == 2
    install_example(packages)
    assert states(run) == {"sources fountain answerable-fountain": ("ready", ".fountain")}
    assert "fountain  sources  answerable-fountain 1.0" in run("plugins").stdout
    added = run("add", folder)
    assert added.returncode == 0, added.stderr
    answer = json.loads(run("ask", "When does the ferry to Graciosa leave?", "--json").stdout)
    (citation,) = answer["citations"]
    assert citation["location"] == "The Ferry › EXT. PIER - DAY, line 11"
    assert (citation["title"], citation["lines"]) == ("The Ferry", [11, 11])
    shown = json.loads(run("show", "ferry.fountain", "--json").stdout)
    assert shown["content"] == SCRIPT
    assert shown["content"][citation["start"] : citation["end"]] == citation["quote"]
    assert shown["metadata"]["format"] == "fountain"
    # An archive and a second process read it too.
    again = json.loads(run("add", folder, "--workers", "2", "--json").stdout)
    assert (again["unchanged"], again["failed"]) == (2, [])


FORMATS = """
    from answerable import Document
    from answerable.errors import EncryptedSource
    from answerable.sources import Format

    def read(data, source, context):
        match data.decode():
            case "locked":
                raise EncryptedSource(f"{source} is locked: unlock it")
            case "crash":
                raise ValueError("no such record")
            case "number":
                return [7]
            case "elsewhere":
                return [Document.from_text("Text.", source="/etc/passwd")]
            case "object":
                return [Document.from_text("Text.", source=source, colour=object())]
            case "empty":
                return []
        return [Document.from_text(data.decode(), source=source)]

    GOOD = Format(name="good", suffixes=(".good", ".md"), read=read)
    PARTS = 7
"""


def test_a_failing_reader_is_named_and_other_files_are_read(run: Run, packages: Path, tmp_path: Path) -> None:
    install(packages, "good-format", FORMATS, {"sources.good": "GOOD"}, "2.5")
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("locked", "crash", "number", "elsewhere", "object", "empty"):
        (folder / f"{name}.good").write_text(name)
    (folder / "fine.good").write_text("The pond is deep.")
    (folder / "fine.md").write_text("# By the built-in reader")
    done = run("add", folder, "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["added"]) == (1, 2)
    plugin, advice = "the plug-in good of the package good-format 2.5", "report it to the authors of good-format"
    said = {Path(each["source"]).stem: (each["code"], each["error"]) for each in report["failed"]}
    assert said["locked"] == ("encrypted_source", f"{folder}/locked.good is locked: unlock it")
    assert said["crash"][1].startswith(f"{folder}/crash.good: {plugin} failed (ValueError: no such record): {advice}")
    assert said["number"][1].startswith(
        f"{folder}/number.good: {plugin} returned a int instead of a Document: {advice}"
    )
    assert "returned a document of another source ('/etc/passwd')" in said["elsewhere"][1]
    assert "failed (TypeError: " in said["object"][1]
    assert said["empty"][0] == "empty_source"
    assert json.loads(run("show", "fine.md", "--json").stdout)["title"] == "By the built-in reader"


def test_what_cannot_be_used_is_named(run: Run, packages: Path, tmp_path: Path) -> None:
    install(packages, "a-format", FORMATS, {"sources.good": "GOOD"})
    install(packages, "b-format", FORMATS, {"sources.good": "GOOD", "sources.parts": "PARTS", "sources.gone": "GONE"})
    install(packages, "broken", "import no_such_module", {"sources.shape": "X", "embedders.vec": "X"})
    install(packages, "others", "def make(model): return 7", {"embedders.local": "make", "splitters.chat": "make"})
    found = states(run)
    assert found["sources good a-format"] == ("partly", ".md is read by the built-in reader")
    state, detail = found["sources good b-format"]
    assert (state, "plug-in good of the package a-format 0.1" in detail) == ("clash", True)
    assert found["sources parts b-format"][0] == "failed"
    assert "is a int, not a Format" in found["sources parts b-format"][1]
    assert "AttributeError" in found["sources gone b-format"][1]
    assert found["sources shape broken"][0] == found["embedders vec broken"][0] == "failed"
    assert "(ModuleNotFoundError: No module named 'no_such_module')" in found["sources shape broken"][1]
    assert found["embedders local others"] == ("clash", "local is built in")
    assert found["splitters chat others"] == ("clash", "chat is split by the built-in splitter")
    file = tmp_path / "a.shape"
    file.write_text("Text.")
    said = run("add", file).stderr
    assert "a.shape can't be read: the plug-in shape of the package broken 0.1 can't be loaded" in said
    failed = run("add", file, env={"ANSWERABLE_EMBEDDER": "vec"})
    assert failed.returncode == 2
    assert "plug-in vec of the package broken 0.1 can't be loaded" in failed.stderr


PARTS = """
    from collections.abc import Sequence
    import numpy as np
    from answerable.protocols import Fingerprint, PassageVectors
    from answerable.splitting.recursive import RecursiveSplitter
    from third_party.small_store import SmallStore

    class Letters:
        def __init__(self, model):
            self.fingerprint = Fingerprint("letters", model or "plain", 26)

        def _vector(self, text):
            counts = np.array([text.lower().count(chr(97 + n)) + 1e-3 for n in range(26)], np.float32)
            return counts / np.linalg.norm(counts)

        def embed_passages(self, passages):
            return [
                PassageVectors(
                    self._vector(each.text),
                    np.array([self._vector(each.text[a:b]) for a, b in each.spans], np.float32).reshape(-1, 26),
                )
                for each in passages
            ]

        def embed_query(self, text):
            return self._vector(text)

        def count_tokens(self, texts):
            return [len(text) for text in texts]

        def cost(self, tokens):
            return 0.0

    class Echo:
        name = "echo:x"

        def __init__(self, model):
            self.model = model

        def stream(self, messages, max_tokens=None):
            from answerable.protocols.answering import Delta
            yield Delta("The pond behind the mill is two metres deep [1].")
            yield Delta("")

        def count_tokens(self, texts):
            return [len(text) // 4 for text in texts]

        def close(self):
            pass

    STORES = {}

    def store(address, create):
        print("opened", address, create)
        return STORES.setdefault(address, SmallStore())

    def by_line(chunk_size, chunk_overlap):
        return ByLine()

    class ByLine:
        def split(self, document):
            if "crash" in document.content:
                raise KeyError("line")
            from answerable.splitting.make_chunks import make_chunks
            spans, at = [], 0
            for line in document.content.splitlines(True):
                spans.append((at, at + len(line)))
                at += len(line)
            return make_chunks(document, spans)

    def half(model):
        return 7

    class Quoter:
        name = "quoter"

        def __init__(self, model):
            pass

        def write(self, question, passages, history):
            yield f"“{passages[0].chunk.content.strip()}” [1]"

        def close(self):
            pass
"""
POINTS = {
    "embedders.letters": "Letters",
    "embedders.half": "half",
    "stores.small": "store",
    "answerers.echo": "Echo",
    "answerers.half": "half",
    "answerers.quoter": "Quoter",
    "splitters.text": "by_line",
}


def test_the_other_kinds_are_used_by_name(run: Run, packages: Path, tmp_path: Path) -> None:
    install(packages, "all-parts", PARTS, POINTS)
    assert {state for state, _ in states(run).values()} == {"ready"}
    text = tmp_path / "pond.txt"
    text.write_text("The pond behind the mill is two metres deep.\nThe mill is old.\nIts owner is Ana.\n")
    env = {"ANSWERABLE_EMBEDDER": "letters:big"}
    assert "added         1\npassages      3\n" in run("add", text, env=env).stdout
    assert "letters:big (26 dimensions)" in run("add", text, env={**env, "ANSWERABLE_EMBEDDER": "letters"}).stderr
    answer = run("ask", "How deep is the pond behind the mill?", "--model", "echo:x", "--json", env=env)
    found: dict[str, Any] = json.loads(answer.stdout)
    assert (found["model"], found["answered"]) == ("echo:x", True)
    assert found["citations"][0]["quote"].startswith("The pond behind the mill is two metres deep.")
    quoted = run("ask", "How deep is the pond behind the mill?", "--model", "quoter", env=env).stdout
    assert "“The pond behind the mill is two metres deep." in quoted
    added = run("add", text, "--library", "small://ana:secret@host/x", env=env)
    assert added.stdout.startswith("opened small://ana:secret@host/x True\n")
    assert "added         1" in added.stdout


def test_parts_that_are_none_are_named(run: Run, packages: Path, tmp_path: Path) -> None:
    install(packages, "all-parts", PARTS, POINTS)
    text = tmp_path / "pond.txt"
    text.write_text("The word crash is here.\nAnd more.\n")
    done = run("add", text, env={"ANSWERABLE_EMBEDDER": "half"})
    assert (done.returncode, "plug-in half of the package all-parts 0.1 made a int without" in done.stderr) == (2, True)
    done = run("add", text)
    assert (done.returncode, "passages      1" in done.stdout) == (0, True)
    assert "plug-in text of the package all-parts 0.1 failed (KeyError: 'line'). It is split as text" in done.stderr
    done = run("ask", "Which word is here?", "--model", "half")
    assert (done.returncode, "made a int without name, write, close" in done.stderr) == (2, True)
    done = run("ask", "Which word is here?", "--model", "nobody")
    assert (done.returncode, "or the name of a plug-in" in done.stderr) == (2, True)
    done = run("list", "--library", "nobody://ana:secret@host/x")
    assert (done.returncode, "There is no store for nobody://host/x" in done.stderr) == (2, True)


LOOKS = """
import importlib.metadata
def refuse(*arguments, **options):
    raise SystemExit("entry points were looked up")
importlib.metadata.entry_points = refuse
"""


def test_a_plain_question_looks_nothing_up(run: Run, packages: Path, tmp_path: Path) -> None:
    text = tmp_path / "pond.md"
    text.write_text("The pond behind the mill is two metres deep.\n")
    assert run_here("add", text, "--library", tmp_path / "library", env=RUNTIME).returncode == 0
    # Which each process imports when it starts.
    (packages / "sitecustomize.py").write_text(LOOKS)
    for command in (("ask", "How deep is the pond?"), ("list",), ("search", "pond")):
        done = run(*command)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert "pond" in done.stdout
    assert run("plugins").stdout == "entry points were looked up\n"
