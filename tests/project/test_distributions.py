"""Test that the wheel and the source archive contain what users need, and no more."""

from __future__ import annotations

import subprocess
import sys
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest
from tools.distributions import contents

from answerable.interfaces.examples import QUESTIONS

ROOT = Path(__file__).parents[2]
PACKAGE = "src/answerable/"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel, built from the source archive, and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def committed(folder: str) -> set[str]:
    """The files of a folder that are in the repository."""
    listed = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}


def test_the_wheel_is_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    wheel, _ = built
    files = contents(wheel)
    expected = {"answerable/" + name.removeprefix(PACKAGE) for name in committed(PACKAGE)}
    # Files that are new here and not committed yet are no fault.
    found = {name for name in files if ".dist-info/" not in name}
    assert expected - found == set()
    assert {name for name in found - expected if not (ROOT / "src" / name).is_file()} == set()
    assert {name.partition("/")[0] for name in files} == {"answerable", "answerable-0.1.0.dist-info"}


def test_what_is_read_at_run_time_is_in_the_wheel(built: tuple[Path, Path]) -> None:
    files = contents(built[0])
    folders = [
        *(f"answerable/interfaces/examples/{language}/" for language in QUESTIONS),
        "answerable/answering/prompts/",
        "answerable/interfaces/http/page/vendor/",
    ]
    assert all(sum(name.startswith(folder) for name in files) >= 3 for folder in folders)
    assert files["answerable/e5/reader.npz"] > 10e6
    assert files["answerable/e5/tables.npz"] > 10e6
    for name in ("answering/gates.json", "interfaces/http/page/index.html", "interfaces/cli/examples.txt", "py.typed"):
        assert files[f"answerable/{name}"] >= 0


def test_the_source_archive_installs_as_the_readme_says(built: tuple[Path, Path]) -> None:
    files = contents(built[1])
    needed = {"Makefile", "constraints.txt", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "tools/demo.py"}
    assert needed | committed("src") | committed("examples") | committed("apps") <= set(files)
    unwanted = ("tests/", "training/", "lab/", ".ci/", ".venv")
    assert [name for name in files if name.startswith(unwanted)] == []


def test_a_package_index_would_take_both(built: tuple[Path, Path]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *built], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with ZipFile(built[0]) as wheel:
        metadata = message_from_bytes(wheel.read("answerable-0.1.0.dist-info/METADATA"))
        assert b"answerable = answerable.__main__:main" in wheel.read("answerable-0.1.0.dist-info/entry_points.txt")
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.10"
    assert not [need for need in metadata.get_all("Requires-Dist", []) if " @ " in need]
