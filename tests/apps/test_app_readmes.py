"""The commands and programs of every application's README do what it shows, in the environment that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from apps.readme_sessions import ROOT, Surroundings, run_readme, steps
from apps.readme_surroundings import SURROUNDINGS, nothing
from providers.real_servers import free_port

APPS = ROOT / "apps"
READMES = {
    path.relative_to(APPS).as_posix(): path.read_text("utf-8")
    for path in sorted(APPS.rglob("README.md"))
    # What uv installs beside an application has READMEs as well.
    if not any(part.startswith(".") for part in path.relative_to(APPS).parts)
}
# What the others' commands do is proved by the tests of their applications too.
SAMPLE = "whatsapp/README.md"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one page: these sessions need no more of it."""
    (tmp_path / "project" / "docs").mkdir(parents=True)
    (tmp_path / "project" / "docs" / "settings.md").write_text("# Settings", "utf-8")
    return tmp_path / "project"


def test_every_application_has_one() -> None:
    folders = {path.name for path in APPS.iterdir() if path.is_dir()}
    assert {name.split("/")[0] for name, text in READMES.items() if steps(text)} == folders


def test_every_readme_says_how_to_run_its_tests() -> None:
    for name, text in READMES.items():
        folder = f"tests/apps/{name.split('/')[0]}"
        assert f"`.venv/bin/python -m pytest {folder}`" in text, name
        assert (ROOT / folder).is_dir()


@pytest.mark.parametrize(
    "name", [name if name == SAMPLE else pytest.param(name, marks=pytest.mark.long) for name in READMES]
)
def test_commands_do_what_is_shown(name: str, tmp_path: Path) -> None:
    follow(name, tmp_path, from_scratch=False)


@pytest.mark.timeout(1800)
@pytest.mark.long
@pytest.mark.parametrize("name", READMES)
def test_they_do_in_an_environment_made_as_it_says(name: str, tmp_path: Path) -> None:
    follow(name, tmp_path, from_scratch=True)


def follow(name: str, folder: Path, from_scratch: bool) -> None:
    """Does what a README says."""
    with SURROUNDINGS.get(name.split("/")[0], nothing)(folder) as around:
        run_readme(READMES[name], folder, around, from_scratch)


@pytest.mark.parametrize(
    ("commands", "told"),
    [
        ("$ echo one two\none … three\n", "shown is"),
        ("$ cd docs\n$ test -f settings.md\n$ false\n", r"\$ false"),
        ("$ exit 3\n", r"\$ exit 3"),
        ("$ echo KEY=…\n", "in place of"),
    ],
)
def test_what_a_readme_does_not_do_is_noticed(commands: str, told: str, project: Path, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=told):
        run_readme(f"```console\n{commands}```\n", tmp_path, Surroundings(), False, project)


def test_typed_lines_servers_and_programs(project: Path, tmp_path: Path) -> None:
    (tmp_path / "page").write_text("served", "utf-8")
    port = free_port()
    readme = f"""
```console
$ cat -
typed
$ python3 -u -m http.server --bind 127.0.0.1 --directory {tmp_path} {port}
$ export PAGE=http://127.0.0.1:{port}/page
$ curl -s \\
    $PAGE
served
$ cd docs
```
```python
import os
```
```python
print(os.environ["PAGE"], os.path.exists("settings.md"))
```
```text
http://… True
```
"""
    around = Surroundings(typed=("typed",), servers={"python3 -u -m http.server": "Serving HTTP"})
    run_readme(readme, tmp_path, around, False, project)
    assert (tmp_path / "0.out").read_text("utf-8") == "typed\n"
