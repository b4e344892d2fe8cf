"""Test that the documented installation commands install something that exists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from answerable.errors import MissingPackage

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# The project's name where a package index would be asked for it, which doesn't have it.
BY_NAME = re.compile(
    r"\b(?:install|uv add|uvx|pipx run)(?: +-\S+(?: constraints\.txt)?)* +['\"]?answerable(?=[\s'\"`[=<>~]|$)"
    r"|\banswerable(?:==|\[[a-z])",
    re.MULTILINE,
)
EXTRA = re.compile(r"\binstall\b[^\n`]*'\.\[([\w,-]+)\]'")


def texts() -> dict[str, str]:
    """Everything that users read, or that makes what they read."""
    files = [path for folder in ("src", "apps", "docs") for path in (ROOT / folder).rglob("*")]
    files += [*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "Dockerfile", *ROOT.glob("compose*.yaml")]
    # What to say on the day of publishing.
    files.remove(ROOT / "docs" / "releasing.md")
    kinds = {".py", ".md", ".js", ".html", ".yaml", ""}
    found = {str(path.relative_to(ROOT)): path for path in files if path.is_file() and path.suffix in kinds}
    return {name: path.read_text("utf-8") for name, path in found.items()}


def test_nobody_is_told_to_install_it_by_a_name_that_is_not_published() -> None:
    told = {name: BY_NAME.findall(text) for name, text in texts().items()}
    assert len(told) > 300
    assert {name: found for name, found in told.items() if found} == {}


@pytest.mark.parametrize(
    "command",
    [
        "pip install answerable",
        "$ pip install -c constraints.txt answerable",
        "pip install 'answerable[server]'",
        "Install answerable==0.1.0 on every node.",
        "uv add answerable",
        "uvx answerable",
    ],
)
def test_such_a_command_is_noticed(command: str) -> None:
    assert BY_NAME.search(command)


def test_every_extra_that_users_are_told_of_is_there() -> None:
    told = {extra for text in texts().values() for found in EXTRA.findall(text) for extra in found.split(",")}
    assert told >= {"cohere", "openai", "server"}
    assert told <= set(PROJECT["optional-dependencies"])


def test_a_missing_package_comes_with_a_command() -> None:
    assert str(MissingPackage("Cohere needs the package cohere", "cohere")).endswith("pip install '.[cohere]'")


@pytest.mark.parametrize(
    ("origin", "installer", "told"),
    [
        ({"url": "file:///home/ana/answerable", "dir_info": {"editable": True}}, "pip", "pip install '.[ocr]'"),
        (
            {"url": "file:///tmp/answerable-0.1.0-py3-none-any.whl", "archive_info": {}},
            "uv",
            "uv pip install '{}[ocr]'",
        ),
        # From a folder of wheels or an index, which both have a wheel of this name.
        (None, "pip", "pip install '{}[ocr]'"),
    ],
)
def test_what_lacks_an_extra_tells_how_to_add_it_to_this_copy(
    tmp_path: Path, origin: dict[str, object] | None, installer: str, told: str
) -> None:
    """tests/smoke.sh compares those of uv tool and pipx."""
    folder = tmp_path / "answerable-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.4\nName: answerable\nVersion: 0.1.0\n")
    (folder / "INSTALLER").write_text(installer + "\n")
    if origin:
        (folder / "direct_url.json").write_text(json.dumps(origin))
    code = "from answerable.errors import how_to_install; print(how_to_install('ocr'))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "src")])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.strip().endswith(": " + told.format("./answerable-0.1.0-py3-none-any.whl"))
    assert str(tmp_path) not in done.stdout
    assert "/home" not in done.stdout


def test_every_pin_runs_on_every_python_that_it_is_for() -> None:
    """For the versions that are installed here; tests/smoke.sh resolves them all."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    wrong = [
        f"{pin} on Python {version}"
        for pin in pins
        for version in PYTHONS
        if pin.marker is None or pin.marker.evaluate({"python_version": version})
        if not needed_python(pin).contains(f"{version}.99")
    ]
    assert wrong == []


def needed_python(pin: Requirement) -> SpecifierSet:
    """The Pythons that a pinned version runs on; all of them where another version is installed, or none."""
    try:
        found = distribution(pin.name)
    except PackageNotFoundError:
        return SpecifierSet()
    return SpecifierSet(found.metadata["Requires-Python"] or "" if pin.specifier.contains(found.version) else "")


def test_make_demo_says_what_it_does_while_pip_works(tmp_path: Path) -> None:
    command = ["make", "--no-print-directory", "--dry-run", "demo", f"VENV={tmp_path / 'venv'}"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert re.match(r'echo "Making an environment in .*venv.* 200 MB.*a minute', lines[0])
    (installs,) = (line for line in lines if "--editable" in line)
    assert "--quiet" not in installs
