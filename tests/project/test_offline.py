"""Nothing leaves the machine: no process of any door looks up a name, connects elsewhere or writes where it shouldn't.

What each application does is watched beside its other tests. `make test` watches adding, with workers too, asking and
the server, `make test-long` every command.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import sys
import tempfile
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from parallel.ray_nodes import Node, wait_for_processors
from watching import SERVING, assert_kept_still, offences, tracer, watch

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
COMMAND = (sys.executable, "-c", "from answerable.interfaces.cli.main import run; run()")
QUESTION = "Can I use vinegar?"
ANSWER = "must not be used"

FROM_PYTHON = f"""
import answerable, sys

with answerable.open(sys.argv[1]) as library:
    library.add(sys.argv[2])
    print(library.ask("{QUESTION}").text)
"""

ASSISTANT = f"""
import anyio, os, sys
from mcp import Client, StdioServerParameters

async def ask():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with Client(server) as client:
        print(await client.call_tool("ask", {{"question": "{QUESTION}"}}))

anyio.run(ask)
"""

STRAY = """
import contextlib, os, socket

socket.create_server(("127.0.0.1", 0)).close()
if os.fork() or os.fork():
    os._exit(0)
os.setsid()
stream, news, names = (socket.socket(type=kind) for kind in (socket.SOCK_STREAM, *[socket.SOCK_DGRAM] * 2))
stream.setblocking(False)
stream.connect_ex(("198.51.100.7", 443))
with contextlib.suppress(OSError):
    news.sendto(b"news", ("198.51.100.7", 443))
names.connect(("127.0.0.1", 53))
names.send(b"a name")
os.chdir(os.environ["HOME"])
os.mkdir("vendor")
open("vendor/id", "w").close()
os.rename("vendor/id", "vendor/stats")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's home with a library, for all tests of this file: the model is compiled once."""
    folder = tmp_path_factory.mktemp("watched")
    assert_kept_still(watch([*COMMAND, "add", EXAMPLES], folder), "30")
    return folder


def test_what_a_process_left_behind_does_is_seen(tmp_path: Path) -> None:
    seen = "\n".join(watch([sys.executable, "-c", STRAY], tmp_path).offences)
    calls = ("connect.*198.51.100.7", "sendto.*198.51.100.7", "sendto.*127.0.0.1:53", "mkdir", "open", "rename")
    assert [call for call in calls if not re.search(call, seen)] == []
    assert len(seen.splitlines()) == len(calls), seen


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["ask", QUESTION], ANSWER),
        *(
            pytest.param(arguments, printed, marks=pytest.mark.long)
            for arguments, printed in (
                (["doctor"], "OpenVINO"),
                (["chat"], ANSWER),
                (["sync"], "unchanged 4"),
                (["verify"], "no differences"),
            )
        ),
    ],
)
def test_commands(folder: Path, arguments: list[str], printed: str) -> None:
    assert_kept_still(watch([*COMMAND, *arguments], folder, typed=f"{QUESTION}\n"), printed)


def test_workers(folder: Path, tmp_path: Path) -> None:
    command = [*COMMAND, "add", EXAMPLES, "--workers", "2", "--library", tmp_path / "library"]
    assert_kept_still(watch(command, folder, tmp_path), "30")


@pytest.mark.long
def test_python(folder: Path, tmp_path: Path) -> None:
    program = [sys.executable, "-c", FROM_PYTHON, tmp_path / "library", EXAMPLES]
    assert_kept_still(watch(program, folder, tmp_path), ANSWER)


def test_the_server(folder: Path) -> None:
    server = [*COMMAND, "serve", "--port", "0"]
    request = ["/api/v1/library/ask", f'{{"question": "{QUESTION}"}}']
    assert_kept_still(watch([sys.executable, "-c", SERVING, *request, *server], folder), ANSWER)


@pytest.mark.long
def test_the_server_for_assistants(folder: Path) -> None:
    assert_kept_still(watch([sys.executable, "-c", ASSISTANT, *COMMAND, "mcp"], folder), ANSWER)


@pytest.mark.long
def test_a_ray_cluster(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The names of sockets may not be long.
    temporary = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.delenv("CI", raising=False)
    log = tmp_path / "calls"
    log.mkdir()
    node = Node(temporary, "127.0.0.5", prefix=tracer(log))
    try:
        node.wait_until_reachable()
        wait_for_processors(node.address, 1)
        command = [*COMMAND, "add", EXAMPLES, "--library", tmp_path / "library", "--ray", node.address]
        assert_kept_still(watch(command, folder, tmp_path, temporary), "30")
    finally:
        node.kill()
        shutil.rmtree(temporary, ignore_errors=True)
    home = Path(os.environ["HOME"])
    assert offences(log, temporary, home / "cache" / "answerable", home / "ray_bootstrap_config.yaml") == []


@pytest.mark.long
def test_importing_what_is_installed_with_it(tmp_path: Path) -> None:
    modules = imported()
    assert {"ray", "cohere", "openai", "langchain_postgres", "mcp", "fastapi", "trafilatura"} <= set(modules)
    watched = watch([sys.executable, "-c", f"import {', '.join(modules)}; print('done')"], tmp_path)
    assert_kept_still(watched, "done")


def imported() -> list[str]:
    """The modules of all that users are told to install, but OpenVINO, which the engine loads in its own way."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {name: each for name, each in project["optional-dependencies"].items() if name not in ("dev", "bench")}
    wanted = {simple(each) for requirements in (project["dependencies"], *extras.values()) for each in requirements}
    found = packages_distributions().items()
    names = (name for name, packages in found if wanted & {*map(simple, packages)})
    return sorted(name for name in names if name.isidentifier() and find_spec(name) and name != "openvino")


def simple(requirement: str) -> str:
    """The name of a package as all its spellings have it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def test_openvino_is_imported_where_it_is_kept_still() -> None:
    """`e5/encoder.py` and `e5/network.py` see to that before they build or read a graph."""
    files = [path for folder in ("src", "apps", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 200
    names = {path.name for path in files if "openvino" in set(modules_of(path))}
    assert names == {"encoder.py", "network.py"}


def modules_of(path: Path) -> list[str]:
    """The packages that a file imports from."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [name.partition(".")[0] for name in names]
