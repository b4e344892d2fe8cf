"""The applications import nothing of the engine but what it gives out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APPS = ROOT / "apps"
# Folders of tests that a specification places inside its application.
FILES = [path for path in sorted(APPS.rglob("*.py")) if not {"test", "tests"} & set(path.relative_to(APPS).parts)]

# Modules whose every name without an underscore is public.
OPEN = frozenset(
    f"answerable.{name}"
    for name in (
        *("datatypes", "protocols", "errors", "filters", "settings", "indexing.reports", "library"),
        *("wiring.build", "text.terms", "providers.calling"),
        *("interfaces.http.guards.request_bodies", "interfaces.http.problems"),
    )
)


def offences(source: str) -> list[str]:
    """The pieces of code that reach for something of the engine's that isn't public."""
    tree = ast.parse(source)
    modules = named_modules(tree)
    return [ast.unparse(node) for node in ast.walk(tree) if any(not is_public(*name) for name in taken(node, modules))]


def named_modules(tree: ast.AST) -> dict[str, str]:
    """The names in a file that stand for modules of the engine."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if is_engine(alias.name):
                    found[alias.asname or "answerable"] = alias.name if alias.asname else "answerable"
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and is_engine(node.module or ""):
            found.update((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
    return {name: module for name, module in found.items() if exists(module)}


def taken(node: ast.AST, modules: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What a piece of code takes from the engine: modules with a name in them, or with none."""
    if isinstance(node, ast.ImportFrom) and node.level == 0 and is_engine(node.module or ""):
        yield from ((node.module or "", alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((alias.name, "") for alias in node.names if is_engine(alias.name))
    elif isinstance(node, ast.Attribute):
        head, dot, rest = ast.unparse(node.value).partition(".")
        module = modules.get(head, "") + dot + rest
        if head in modules and exists(module):
            yield module, node.attr
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value and exists(node.value):
        # A module that is loaded by its name.
        yield node.value, ""


def is_engine(module: str) -> bool:
    return module.split(".")[0] == "answerable"


def exists(module: str) -> bool:
    """Whether it is the name of a module of the engine."""
    if not re.fullmatch(r"answerable(\.\w+)*", module):
        return False
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def is_public(module: str, name: str) -> bool:
    """Whether a module (for an empty name), or a name in it, is one that applications may use."""
    if module in OPEN:
        return not name.startswith("_") and name != "*"
    names = public_names(module)
    inner = f"{module}.{name}"
    return inner in OPEN or (bool(names) and (not name or name in names or bool(public_names(inner))))


def public_names(module: str) -> list[str]:
    """What a package of the engine gives out; nothing for a module in one."""
    if not exists(module):
        return []
    package = vars(import_module(module))
    return list(package.get("__all__", ())) if "__path__" in package else []


def test_applications_import_public_names_only() -> None:
    found = {path.relative_to(APPS).as_posix(): offences(path.read_text("utf-8")) for path in FILES}
    assert {name: each for name, each in found.items() if each} == {}


def test_there_are_applications_to_look_at() -> None:
    assert APPS / "whatsapp" / "rag" / "core.py" in FILES


@pytest.mark.parametrize(
    "source",
    [
        "import answerable",
        "import answerable\nanswerable.open(':memory:')",
        "from answerable import Library, open",
        "from answerable.wiring.build import build_reader",
        "from answerable import splitting\nsplitting.RecursiveSplitter",
        "import answerable.errors\nanswerable.errors.AnswerableError",
        "from answerable.sources import read_chat",
        "import answerable.sources as sources\nsources.read_chat('', '')",
        "from answerable.text.terms import terms",
        "from answerable.errors import AnswerableError",
        "from .sources.whatsapp import parse_chat",
        "from answerables.sources.whatsapp import parse_chat",
        "message = 'answerable.sources is where it comes from'",
    ],
)
def test_what_is_public_is_let_through(source: str) -> None:
    assert offences(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "from answerable.sources.whatsapp.read import parse_chat",
        "from answerable.sources import archives",
        "from answerable.retrieval import hybrid_search",
        "from answerable import retrieval\nretrieval.hybrid_search",
        "from answerable import errors\nerrors._hidden",
        "from answerable import exports",
        "from answerable.retrieval.hybrid import fuse",
        "from answerable.errors import _hidden",
        "from answerable.errors import *",
        "from answerable.answering import extractive",
        "import answerable.sources.whatsapp.read",
        "import answerable\nanswerable.sources.whatsapp.parse_chat('')",
        "import answerable\nanswerable._MODULES",
        "def later():\n    from answerable.stores.memory import MemoryStore",
        "from importlib import import_module\nimport_module('answerable.stores.memory')",
    ],
)
def test_what_is_not_public_is_noticed(source: str) -> None:
    assert offences(source)
