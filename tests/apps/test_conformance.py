"""What the pages on conformance name is there: the tests, and the code."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("conformance*.md"))
TEST = re.compile(r"([\w./-]+\.py)::([\w:]+)")
CODE = re.compile(r"((?:apps|src)/[\w./-]+\.py):(?!:)([\w.]+)")


@cache
def defined(path: Path) -> frozenset[str]:
    """The functions, classes and variables of a file, those inside of classes as `Class.name`."""
    found: set[str] = set()
    waiting: list[tuple[str, ast.stmt]] = [("", node) for node in ast.parse(path.read_text("utf-8")).body]
    for prefix, node in waiting:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                waiting += ((f"{prefix}{node.name}.", inner) for inner in node.body)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(prefix + target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(found)


def missing(pattern: re.Pattern[str], page: str) -> list[str]:
    """What a page names and isn't there."""
    return [
        match[0]
        for match in pattern.finditer(page)
        if (path := file_of(match[1])) is None or match[2].replace("::", ".") not in defined(path)
    ]


@cache
def file_of(name: str) -> Path | None:
    """A file by its path from the project's folder, or by its name alone where only one has it."""
    if "/" in name:
        return ROOT / name if (ROOT / name).is_file() else None
    found = [path for folder in ("tests", "apps") for path in (ROOT / folder).rglob(name)]
    return found[0] if len(found) == 1 else None


def rows(page: str) -> list[list[str]]:
    """The cells of the rows of a page's tables, without their heads."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    heads = {number for number, line in enumerate(lines) if re.fullmatch(r"\|[\s|:-]+", line)}
    kept = [line for number, line in enumerate(lines) if not {number, number + 1} & heads]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in kept]


def test_there_is_a_page() -> None:
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_test_and_all_code_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    assert TEST.search(text)
    assert missing(TEST, text) == []
    assert missing(CODE, text) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_requirement_of_a_page_names_a_test(page: Path) -> None:
    without = [row[0] for row in rows(page.read_text("utf-8")) if not any(TEST.search(cell) for cell in row)]
    assert without == []


def test_what_is_not_there_is_noticed() -> None:
    here = Path(__file__).relative_to(ROOT).as_posix()
    page = f"""| requirement | test |
|---|:---|
| one | `{here}::test_there_is_a_page` |
| two | `{here}::test_that_nobody_wrote`, `tests/no_such_file.py::test_it` |
| a \\| b | |
"""
    assert missing(TEST, "`test_conformance.py::test_there_is_a_page`, `conftest.py::server`") == [
        "conftest.py::server"
    ]
    assert missing(TEST, page) == [f"{here}::test_that_nobody_wrote", "tests/no_such_file.py::test_it"]
    assert missing(CODE, "`src/answerable/errors.py:AnswerableError`, `src/answerable/errors.py:Nothing`") == [
        "src/answerable/errors.py:Nothing"
    ]
    assert [row[0] for row in rows(page)] == ["one", "two", r"a \| b"]
