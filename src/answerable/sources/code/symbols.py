"""Find the functions and classes of source code with tree-sitter; Python also with its own parser.

One set of node names, in `nodes.json`, serves all grammars: their names hardly ever conflict.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.sources.code.languages import CodeLanguage

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# Longer files are generated; a parsed table of data has nothing to cite.
_LONGEST = 3_000_000
_DEEPEST = 20
_LONGEST_NAME = 100

_NODES = json.loads(Path(__file__).with_name("nodes.json").read_text("utf-8"))
_CONTAINERS = frozenset(_NODES["containers"])
_FUNCTIONS = frozenset(_NODES["functions"])
_WRAPPERS = frozenset(_NODES["wrappers"])
_VALUES = frozenset(_NODES["values"])
_FUNCTION_VALUES = frozenset(_NODES["function_values"])
# Symbols only if they have a body: without one, C code only mentions the type.
_NEED_BODY = frozenset(_NODES["need_body"])
_DEFINING = _CONTAINERS | _FUNCTIONS | _WRAPPERS | _VALUES
_OPENERS = frozenset(_NODES["openers"])
_FIXED_NAMES: dict[str, str] = _NODES["fixed_names"]
_IDENTIFIERS = frozenset(_NODES["identifiers"])
_HEADS = frozenset(_NODES["heads"])
_TYPE_PARAMETERS = re.compile(r"<.*|\[.*|\(.*", re.DOTALL)
_SEPARATORS = re.compile(r"::|[:\\]|->")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or class: its dotted path, and its first and last line, counted from 0."""

    path: str
    first: int
    last: int


def find_symbols(content: str, language: CodeLanguage) -> list[Symbol]:
    """Return the symbols of the code, outer before inner; none if no parser can read it."""
    if len(content) > _LONGEST:
        return []
    grammar = _grammar(language.grammar, language.function) if language.grammar else None
    if grammar is not None:
        return list(_parsed_by(grammar, content))
    return list(_parsed_by_python(content)) if language.name == "Python" else []


@cache
def _grammar(module: str, function: str) -> Language | None:
    """Return a language's grammar if its wheel is installed; the extra `code` is optional."""
    try:
        from tree_sitter import Language

        return Language(getattr(importlib.import_module(module), function)())
    except (ImportError, AttributeError, ValueError):
        # A wheel for another version of the parser is unusable.
        return None


def _parsed_by(grammar: Language, content: str) -> Iterator[Symbol]:
    from tree_sitter import Parser

    tree = Parser(grammar).parse(content.encode("utf-8"))
    # Node, path of the symbol around it, first line of its wrapper, depth.
    stack: list[tuple[Node, str, int | None, int]] = [
        (child, "", None, 0) for child in reversed(tree.root_node.named_children)
    ]
    while stack:
        node, around, outer, depth = stack.pop()
        first = node.start_point.row if outer is None else outer
        name = _symbol_name(node)
        if name:
            around = f"{around}.{name}" if around else name
            yield Symbol(around, first, _last_line(node))
            if node.type not in _CONTAINERS:
                continue
        elif node.type not in _WRAPPERS and node.type not in _CONTAINERS:
            continue
        if depth < _DEEPEST:
            children = node.named_children
            # Only the first of several definitions after one `const` or `type` begins there.
            opens = node.type in _OPENERS and not name
            opened = next((child for child in children if child.type in _DEFINING), None) if opens else None
            stack += [(child, around, first if child == opened else None, depth + 1) for child in reversed(children)]


def _last_line(node: Node) -> int:
    row, column = node.end_point.row, node.end_point.column
    return row - 1 if column == 0 and row > node.start_point.row else row


def _symbol_name(node: Node) -> str:
    """Return the name of a node that defines something, "" for other nodes."""
    kind = node.type
    if kind in _VALUES:
        return _name_of_value(node)
    if kind in _NEED_BODY and node.child_by_field_name("body") is None:
        return ""
    if kind == "type_definition":
        # C defines a type here, other languages only an alias.
        return _declared(node) if any(child.type in _NEED_BODY for child in node.named_children) else ""
    if kind not in _CONTAINERS and kind not in _FUNCTIONS:
        return ""
    named = node.child_by_field_name("type" if kind == "impl_item" else "name")
    name = _clean(named) if named is not None else _declared(node)
    receiver = node.child_by_field_name("receiver") if kind == "method_declaration" else None
    if receiver is not None and (owner := _first(receiver, "type_identifier")):
        return f"{_clean(owner)}.{name}"
    return name or _FIXED_NAMES.get(kind, "")


def _name_of_value(node: Node) -> str:
    """Return the name of the variable that a function or class is assigned to, or ""."""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    target = next(filter(None, map(node.child_by_field_name, ("name", "property", "left"))), None)
    if value is None and node.named_child_count == 2:
        # Lua's lists of targets and values, Julia's short functions.
        target, value = node.named_children
        value = value.named_children[0] if value.type == "expression_list" and value.named_children else value
        if node.type == "assignment" and target.type == "call_expression":
            return _declared(target)
    if value is None or target is None or value.type not in _FUNCTION_VALUES:
        return ""
    return _clean(target).removeprefix("module.exports.").removeprefix("exports.")


def _declared(node: Node) -> str:
    """Return the identifier in a declaration; each grammar puts it somewhere else."""
    inner: Node | None = node
    for _ in range(_DEEPEST):
        if inner is None or inner.type in _IDENTIFIERS:
            break
        heads = (child for child in inner.named_children if child.type in _HEADS or child.type in _IDENTIFIERS)
        inner = inner.child_by_field_name("declarator") or next(heads, None)
    return _clean(inner) if inner is not None and inner.type in _IDENTIFIERS else ""


def _first(node: Node, kind: str) -> Node | None:
    """Return the first descendant of this kind, breadth first."""
    level = [node]
    for _ in range(5):
        level = [child for parent in level[:50] for child in parent.named_children[:50]]
        if found := next((child for child in level if child.type == kind), None):
            return found
    return None


def _clean(node: Node) -> str:
    """Return a node's name, dotted and without type parameters."""
    text = (node.text or b"").decode("utf-8", "replace")
    text = _SEPARATORS.sub(".", _TYPE_PARAMETERS.sub("", text))
    return "".join(text.split()).strip(".*&")[:_LONGEST_NAME]


def _parsed_by_python(content: str) -> Iterator[Symbol]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    stack: list[tuple[ast.AST, str, int]] = [(node, "", 0) for node in reversed(tree.body)]
    while stack:
        node, around, depth = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            around = f"{around}.{node.name}" if around else node.name
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Symbol(around, first - 1, (node.end_lineno or node.lineno) - 1)
        elif not isinstance(node, ast.If | ast.Try):
            continue
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and depth < _DEEPEST:
            stack += [(child, around, depth + 1) for child in reversed(list(ast.iter_child_nodes(node)))]
