"""Source code → Document: the unchanged file, with a part for each function, each class and the code between them.

tree-sitter finds functions and classes. All grammars share one set of node names, `code_nodes.json`, since the names of
different grammars hardly ever conflict.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.formats.built_in import LANGUAGES as listed
from answerable.sources.text import make_document, require_text

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# Characters of a file to parse: longer files are generated, and a table of data has no symbols to cite.
_LONGEST = 3_000_000
_DEEPEST = 20  # levels of symbols inside symbols
_NODES = json.loads(Path(__file__).with_name("code_nodes.json").read_text("utf-8"))
_CONTAINERS = frozenset(_NODES["containers"])
_FUNCTIONS = frozenset(_NODES["functions"])
_WRAPPERS = frozenset(_NODES["wrappers"])
_VALUES = frozenset(_NODES["values"])
_FUNCTION_VALUES = frozenset(_NODES["function_values"])
# Node types that are symbols only if they have a body: without a body, C code only mentions the type.
_NEED_BODY = frozenset(_NODES["need_body"])
_DEFINING = _CONTAINERS | _FUNCTIONS | _WRAPPERS | _VALUES
_OPENERS = frozenset(_NODES["openers"])
_FIXED_NAMES: dict[str, str] = _NODES["fixed_names"]
_IDENTIFIERS = frozenset(_NODES["identifiers"])
_HEADS = frozenset(_NODES["heads"])
_TYPE_PARAMETERS = re.compile(r"<.*|\[.*|\(.*", re.DOTALL)
_RECEIVER = re.compile(rb"([\w\x80-\xff]+)\s*(?:\[[^\]]*\]\s*)?,?\s*\)\Z")  # of Go: `(s *S[T])`
_SEPARATORS = re.compile(r"::|[:\\]|->")
_NOBODY = -1  # the owner of lines outside of symbols


def read_code(content: str, source: str) -> Document:
    """Return the document for decoded source code; without symbols if parsing fails. Raises EmptySource."""
    require_text(content, source)
    language = code_language(source)
    symbols = find_symbols(content, language) if language else []
    parts = _parts(content, symbols, tuple(language.above) if language else ())
    title = PurePosixPath(source.replace("\\", "/").rsplit("!/", 1)[-1]).name
    metadata = {"programming_language": language.name} if language else {}
    return make_document(source, content, DocumentType.CODE, parts, title, metadata)


def _parts(content: str, symbols: Sequence[Symbol], above: tuple[str, ...]) -> Iterator[Part]:
    """Cut the content where a symbol begins or ends; blank lines belong to the part before them."""
    lines = content.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    owners = _owners(lines, symbols, above)
    first = 0
    for line in range(1, len(lines) + 1):
        if line == len(lines) or (owners[line] != owners[first] and lines[line].strip()):
            start, end = starts[first], min(starts[line], len(content))
            symbol = symbols[owners[first]].path if owners[first] != _NOBODY else None
            if start < end:
                yield Part(start, end, PartKind.SYMBOL, symbol=symbol)
            first = line


def _owners(lines: Sequence[str], symbols: Sequence[Symbol], above: tuple[str, ...]) -> list[int]:
    """Return for each line the index of its innermost symbol, or _NOBODY."""
    owners = [_NOBODY] * len(lines)
    for index, symbol in enumerate(symbols):
        first, last = symbol.first, min(symbol.last, len(lines) - 1)
        if first > last:
            continue
        around = owners[first]
        if around != _NOBODY and symbols[around].first == first and symbols[around].last == symbol.last:
            # The outer symbol has the same lines, and is enough to cite.
            continue
        # Comments and decorators directly above a function belong to it.
        while first and owners[first - 1] == around and lines[first - 1].strip().startswith(above):
            first -= 1
        owners[first : last + 1] = [index] * (last + 1 - first)
    return owners


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or class: its dotted path, and its first and last line, counted from 0."""

    path: str
    first: int
    last: int


def find_symbols(content: str, language: CodeLanguage) -> list[Symbol]:
    """Return the symbols of the code, outer before inner; none without a grammar."""
    grammar = _grammar(language.grammar, language.function) if language.grammar else None
    return list(_parsed_by(grammar, content)) if grammar is not None and len(content) <= _LONGEST else []


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
            # Of several definitions after one `const` or `type`, only the first begins on the line of that keyword.
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
    if receiver is not None and (owner := _RECEIVER.search((receiver.text or b"")[-200:])):
        return f"{owner[1].decode('utf-8', 'replace')}.{name}"
    return name or _FIXED_NAMES.get(kind, "")


def _name_of_value(node: Node) -> str:
    """Return the name of the variable that a function or class is assigned to, or ""."""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    target = next(filter(None, map(node.child_by_field_name, ("name", "property", "left"))), None)
    if value is None and node.named_child_count == 2:
        # Lua has lists of targets and values; Julia has functions written as assignments.
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


def _clean(node: Node) -> str:
    """Return a node's name, dotted and without type parameters."""
    text = (node.text or b"").decode("utf-8", "replace")
    text = _SEPARATORS.sub(".", _TYPE_PARAMETERS.sub("", text))
    return "".join(text.split()).strip(".*&")[:100]


@dataclass(frozen=True, slots=True)
class CodeLanguage:
    """A programming language; `above` is how comments and decorators begin, which belong to the function below them."""

    name: str
    suffixes: Sequence[str]
    above: Sequence[str]
    grammar: str = ""  # the module of its tree-sitter wheel, if one is reliable
    function: str = "language"


LANGUAGES = tuple(CodeLanguage(name, **entry) for name, entry in listed.items())
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}


def code_language(source: str) -> CodeLanguage | None:
    """Return a file's language by the suffix of its name, or None."""
    return _BY_SUFFIX.get(PurePosixPath(source.lower()).suffix)
