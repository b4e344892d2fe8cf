"""Source code → its functions and classes, by tree-sitter's grammars; of Python also by its own parser.

One set of node names serves all grammars: they hardly ever mean different things by the same name.
"""

from __future__ import annotations

import ast
import importlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from answerable.sources.code.languages import CodeLanguage

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# Beyond this nobody wrote it by hand, and what a table of data looks like parsed is nothing to cite.
_LONGEST = 3_000_000
_DEEPEST = 20
_LONGEST_NAME = 100

_CONTAINER_NAMES = """
class_definition class_declaration abstract_class_declaration class class_specifier struct_specifier union_specifier
enum_specifier interface_declaration enum_declaration record_declaration record_struct_declaration struct_declaration
annotation_type_declaration trait_declaration object_definition object_declaration companion_object trait_definition
enum_definition protocol_declaration extension_declaration module module_definition internal_module namespace_definition
namespace_declaration mod_item impl_item trait_item struct_item enum_item union_item struct_definition type_spec
type_definition
"""
_FUNCTION_NAMES = """
function_definition function_declaration generator_function_declaration method_definition method_declaration method
singleton_method constructor_declaration compact_constructor_declaration destructor_declaration operator_declaration
function_item function_signature_item init_declaration deinit_declaration
protocol_function_declaration secondary_constructor macro_definition
function_signature method_signature abstract_method_signature method_elem local_function_statement
"""
_WRAPPER_NAMES = """
ERROR export_statement decorated_definition block class_body interface_body enum_body enum_body_declarations
enum_class_body annotation_type_body protocol_body template_body declaration_list field_declaration_list body_statement
template_declaration linkage_specification preproc_ifdef preproc_if preproc_else lexical_declaration
variable_declaration expression_statement statement_block if_statement else_clause try_statement type_declaration
type_declaration_list ambient_declaration declaration field_declaration object_type interface_type namespace_body
source_file chunk begin_block
"""
_VALUE_NAMES = """
variable_declarator assignment_expression assignment assignment_statement field_definition public_field_definition
"""
_FUNCTION_VALUES = frozenset("arrow_function function_expression function function_definition class".split())
_CONTAINERS = frozenset(_CONTAINER_NAMES.split())
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
_WRAPPERS = frozenset(_WRAPPER_NAMES.split())
_VALUES = frozenset(_VALUE_NAMES.split())
# Named only where they hold a body: elsewhere C merely mentions them.
_NEED_BODY = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
_DEFINING = _CONTAINERS | _FUNCTIONS | _WRAPPERS | _VALUES
_OPENERS = frozenset(
    {"export_statement", "decorated_definition", "template_declaration", "lexical_declaration", "type_declaration"}
)
_KEYWORDS = {
    "init_declaration": "init",
    "deinit_declaration": "deinit",
    "secondary_constructor": "constructor",
    "companion_object": "Companion",
}
_IDENTIFIER_NAMES = """
identifier field_identifier type_identifier simple_identifier qualified_identifier destructor_name operator_name
operator
"""
_IDENTIFIERS = frozenset(_IDENTIFIER_NAMES.split())
_HEADS = frozenset(
    "signature type_head call_expression typed_expression function_declarator pointer_declarator".split()
)
_TYPE_PARAMETERS = re.compile(r"<.*|\[.*|\(.*", re.DOTALL)
_SEPARATORS = re.compile(r"::|[:\\]|->")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or a class with its dotted path and its first and last line, counted from 0."""

    path: str
    first: int
    last: int


def find_symbols(content: str, language: CodeLanguage) -> list[Symbol]:
    """The symbols of some code, those around before those within; none where nothing can parse it."""
    if len(content) > _LONGEST:
        return []
    grammar = _grammar(language.grammar, language.function) if language.grammar else None
    if grammar is not None:
        return list(_parsed_by(grammar, content))
    return list(_parsed_by_python(content)) if language.name == "Python" else []


@cache
def _grammar(module: str, function: str) -> Language | None:
    """A language's grammar if its wheel is installed: the extra `code` is optional, and code reads well without it."""
    try:
        from tree_sitter import Language

        return Language(getattr(importlib.import_module(module), function)())
    except (ImportError, AttributeError, ValueError):
        # A wheel of another generation than the parser is as good as none.
        return None


def _parsed_by(grammar: Language, content: str) -> Iterator[Symbol]:
    from tree_sitter import Parser

    tree = Parser(grammar).parse(content.encode("utf-8"))
    # Node, the path around it, the line where what is wrapped around it begins, depth.
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
            # Of several definitions behind one `const` or `type` only the first begins there.
            opens = node.type in _OPENERS and not name
            opened = next((child for child in children if child.type in _DEFINING), None) if opens else None
            stack += [(child, around, first if child == opened else None, depth + 1) for child in reversed(children)]


def _last_line(node: Node) -> int:
    row, column = node.end_point.row, node.end_point.column
    return row - 1 if column == 0 and row > node.start_point.row else row


def _symbol_name(node: Node) -> str:
    """What a node that defines something is called; empty for other nodes."""
    kind = node.type
    if kind in _VALUES:
        return _name_of_value(node)
    if kind in _NEED_BODY and node.child_by_field_name("body") is None:
        return ""
    if kind == "type_definition":
        # In C the type that is defined, in other languages another name for one.
        return _declared(node) if any(child.type in _NEED_BODY for child in node.named_children) else ""
    if kind not in _CONTAINERS and kind not in _FUNCTIONS:
        return ""
    named = node.child_by_field_name("type" if kind == "impl_item" else "name")
    name = _clean(named) if named is not None else _declared(node)
    receiver = node.child_by_field_name("receiver") if kind == "method_declaration" else None
    if receiver is not None and (owner := _first(receiver, "type_identifier")):
        return f"{_clean(owner)}.{name}"
    return name or _KEYWORDS.get(kind, "")


def _name_of_value(node: Node) -> str:
    """The name that a function or class is assigned to."""
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
    """The identifier of a declaration, wherever its grammar puts it."""
    inner: Node | None = node
    for _ in range(_DEEPEST):
        if inner is None or inner.type in _IDENTIFIERS:
            break
        heads = (child for child in inner.named_children if child.type in _HEADS or child.type in _IDENTIFIERS)
        inner = inner.child_by_field_name("declarator") or next(heads, None)
    return _clean(inner) if inner is not None and inner.type in _IDENTIFIERS else ""


def _first(node: Node, kind: str) -> Node | None:
    """The first node of a kind under another, the nearest level first."""
    level = [node]
    for _ in range(5):
        level = [child for parent in level[:50] for child in parent.named_children[:50]]
        found = next((child for child in level if child.type == kind), None)
        if found is not None:
            return found
    return None


def _clean(node: Node) -> str:
    """A name with dots between its steps and without type parameters."""
    text = (node.text or b"").decode("utf-8", "replace")
    text = _SEPARATORS.sub(".", _TYPE_PARAMETERS.sub("", text))
    return "".join(text.split()).strip(".*&")[:_LONGEST_NAME]


def _parsed_by_python(content: str) -> Iterator[Symbol]:
    try:
        with warnings.catch_warnings():
            # What the compiler finds odd in somebody's code is not ours to tell.
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
