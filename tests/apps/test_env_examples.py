"""Every application's `.env.example` has each variable that the application reads, with its default and what it is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from answerable.settings import load_settings

APPS = Path(__file__).parents[2] / "apps"
EXAMPLES = sorted(
    path for path in APPS.rglob(".env.example") if not {".venv", "node_modules"} & set(path.relative_to(APPS).parts)
)
NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
LINE = re.compile(r"(?P<given># )?(?P<name>[A-Z][A-Z0-9_]+)=(?P<value>.*)")
ROW = re.compile(r"^\| `(?P<name>[A-Z][A-Z0-9_]+)` \| (?P<default>[^|]*)\|", re.MULTILINE)

each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.relative_to(APPS).parts[0])


def variables(example: Path) -> dict[str, str]:
    """The variables of an example, with their values."""
    lines = [LINE.fullmatch(line) for line in example.read_text("utf-8").splitlines()]
    return {line["name"]: line["value"] for line in lines if line}


def readme(example: Path) -> str:
    """The application's README."""
    (path,) = (path for path in example.parent.rglob("README.md") if ".venv" not in path.parts)
    return path.read_text("utf-8")


def settings(example: Path) -> dict[str, str]:
    """The variables in the tables of the README, with their defaults."""
    return {row["name"]: row["default"].strip() for row in ROW.finditer(readme(example))}


def read(example: Path) -> set[str]:
    """What in the application's code may be the name of a variable, or its end."""
    found: set[str] = set()
    for path in example.parent.rglob("*.py"):
        if {"tests", ".venv"} & set(path.relative_to(example.parent).parts):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        exported = {
            getattr(node, "value", None)
            for each in ast.walk(tree)
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__"
            for node in ast.walk(each)
        }
        found |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value)
        } - exported
    return found


def test_every_application_has_one() -> None:
    assert {path.relative_to(APPS).parts[0] for path in EXAMPLES} == {path.name for path in APPS.iterdir()}


@each_example
def test_it_has_what_the_application_reads(example: Path) -> None:
    known = variables(example)
    assert set(settings(example)) <= set(known)
    assert [name for name in known if name not in readme(example)] == []
    assert [name for name in read(example) if not any(f"_{each}".endswith(f"_{name}") for each in known)] == []


@each_example
def test_each_has_its_default_and_a_line_on_what_it_is(example: Path) -> None:
    lines = example.read_text("utf-8").splitlines()
    for before, line in pairwise(lines):
        if LINE.fullmatch(line):
            assert before.startswith("# "), line
            assert not LINE.fullmatch(before), line
    known = variables(example)
    for name, default in settings(example).items():
        stated = re.fullmatch(r"`(.+)`", default)
        assert stated is None or known[name] == stated[1], name


@each_example
def test_its_values_make_sense(example: Path) -> None:
    load_settings(environment=variables(example))
    subprocess.run(["sh", "-euc", f"set -a; . {example}"], check=True)


def test_strict_grounding_promises_no_more_than_it_holds() -> None:
    for example in EXAMPLES:
        lines = [*example.read_text("utf-8").splitlines(), *readme(example).splitlines()]
        said = [line for line in lines if "strict" in line and re.search(r"\bonly\b|\bsó\b|\bnever\b|\bnunca\b", line)]
        assert not said, example


@pytest.mark.long
@pytest.mark.parametrize(
    ("folder", "file", "some"),
    [
        ("pdf_chat", "pdf_chat/test_pdf_chat_search.py", "what_nothing_backs_is_told"),
        ("textbook/backend", "textbook/test_textbook_offline.py", "nothing_leaves_the_machine"),
    ],
)
def test_the_file_that_a_readme_asks_for_changes_no_test(folder: str, file: str, some: str) -> None:
    made = APPS / folder / ".env"
    before = made.read_bytes() if made.exists() else None
    made.write_text(
        "OPENAI_API_KEY=wrong\nOPENAI_BASE_URL=http://127.0.0.1:9/v1\nDATABASE_URL=postgresql://nobody@127.0.0.1:9/none\n"
        "QDRANT_URL=http://127.0.0.1:9\nANSWERABLE_GROUNDING=strict\nPG_VECTOR_COLLECTION_NAME=none\n",
        "utf-8",
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        str(Path(__file__).parent / file),
    ]
    try:
        done = subprocess.run([*command, "-k", some], cwd=APPS.parent, capture_output=True, text=True)
    finally:
        made.unlink() if before is None else made.write_bytes(before)
    assert done.returncode == 0, done.stdout[-2000:]
