"""Source code: functions and classes as parts, with grammars and without, whole or broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import DocumentType, PartKind
from answerable.errors import EmptySource
from answerable.sources import code as code_reading
from answerable.sources.code import LANGUAGES, CodeLanguage, code_language, read_code

PYTHON = '''"""Reads bills."""
import os

LIMIT = 30  # años


# Each bill has
# its own class.
@dataclass(
    frozen=True,
)
class Factura:
    """Una factura."""

    total: int

    def vence(self) -> date:
        def inner(): ...
        return inner()

    # Otra vez.
    async def pagar(self): ...


if TYPE_CHECKING:
    def helper(): ...
'''
EXPECTED = [None, "Factura", "Factura.vence", "Factura.pagar", None, "helper"]


def symbols(content: str, name: str) -> list[str | None]:
    document = read_code(content, name)
    assert "".join(content[part.start : part.end] for part in document.parts) == content
    return [part.symbol for part in document.parts]


def test_python() -> None:
    document = read_code(PYTHON, "/src/bills.py")
    assert (document.type, document.title, document.content) == (DocumentType.CODE, "bills.py", PYTHON)
    assert document.metadata == {"programming_language": "Python"}
    assert {part.kind for part in document.parts} == {PartKind.SYMBOL}
    assert symbols(PYTHON, "bills.py") == EXPECTED
    texts = [PYTHON[part.start : part.end] for part in document.parts]
    assert texts[1].startswith("# Each bill has\n# its own class.\n@dataclass(")
    assert texts[3].startswith("    # Otra vez.\n")


@pytest.mark.parametrize(
    ("name", "lines", "expected"),
    [
        (
            "a.js",
            [
                "export class A {",
                " b() {}",
                " c = () => 1;",
                "}",
                "export const f = (x) => x;",
                "module.exports.h = function() {};",
            ],
            ["A", "A.b", "A.c", "A", "f", "h"],
        ),
        (
            "a.ts",
            ["namespace N {", " export interface I { x: number }", "}", "function g<T>(x: T): T { return x }"],
            ["N", "N.I", "N", "g"],
        ),
        ("a.tsx", ["export default function App() {", " return <p/>;", "}"], ["App"]),
        (
            "A.java",
            ["public class A {", " A() {}", " /** Sums. */", " @Override", " int b() { return 1; }", "}"],
            ["A", "A.A", "A.b", "A"],
        ),
        (
            "a.go",
            [
                "package a",
                "",
                "type S struct { x int }",
                "",
                "// M runs.",
                "func (s *S) M() {}",
                "func F[T any](x T) {}",
            ],
            [None, "S", "S.M", "F"],
        ),
        (
            "a.rs",
            [
                "mod m {",
                " #[derive(Debug)]",
                " pub struct S<T> { a: T }",
                " impl<T> S<T> {",
                "  pub fn f(&self) {}",
                " }",
                "}",
            ],
            ["m", "m.S", "m.S", "m.S.f", "m.S", "m"],
        ),
        (
            "a.c",
            ["#include <x.h>", "typedef struct { int a; } T;", "static int *f(int a) {", " return 0;", "}"],
            [None, "T", "f"],
        ),
        (
            "a.cpp",
            [
                "namespace n {",
                "template<class T>",
                "class C {",
                " int m() { return 1; }",
                "};",
                "}",
                "int &n::C::z() { return a; }",
            ],
            ["n", "n.C", "n.C.m", "n.C", "n", "n.C.z"],
        ),
        (
            "a.cs",
            ["namespace A.B {", " class C {", "  int D() { return 1; }", " }", "}"],
            ["A.B", "A.B.C", "A.B.C.D", "A.B.C", "A.B"],
        ),
        ("a.rb", ["module M", " class A < B", "  def x; end", " end", "end"], ["M", "M.A", "M.A.x", "M.A", "M"]),
        ("a.php", ["<?php", "class B {", " public function c() {}", "}"], [None, "B", "B.c", "B"]),
        ("a.kt", ["class A {", " fun b(): Int {", "  return 1", " }", "}"], ["A", "A.b", "A"]),
        ("a.swift", ["struct A {", " func b() -> Int { return 1 }", " init() {}", "}"], ["A", "A.b", "A.init", "A"]),
        ("a.scala", ["object O {", " def f(x: Int) = x", "}"], ["O", "O.f", "O"]),
        ("a.lua", ["function M.foo(a)", " return a", "end", "M.baz = function() end"], ["M.foo", "M.baz"]),
        ("a.sh", ["set -e", "# Says hello.", "foo() {", " echo 1", "}"], [None, "foo"]),
        ("a.jl", ["module M", "function f(x)", " x", "end", "struct S", " a", "end", "end"], ["M", "M.f", "M.S", "M"]),
        ("a.sql", ["-- Bills", "CREATE TABLE facturas (id int);"], [None]),
        ("a.py", ["def broken(:", "  x = (", "class A:", "  def fine(self): pass"], None),
    ],
)
def test_each_language(name: str, lines: list[str], expected: list[str | None] | None) -> None:
    found = symbols("\n".join(lines) + "\n", name)
    assert expected is None or found == expected


def test_every_grammar_of_the_extra_is_there() -> None:
    missing = [
        each.name for each in LANGUAGES if each.grammar and not code_reading._grammar(each.grammar, each.function)
    ]
    assert not missing, "pip install '.[code]'"


def test_a_grammar_that_is_missing_is_done_without() -> None:
    unknown = CodeLanguage("Other", (".other",), ("#",), "tree_sitter_of_another_world")
    assert code_reading.find_symbols("def f(): pass", unknown) == []


def test_much_nesting_and_many_lines_end() -> None:
    deep = "".join("  " * depth + f"class A{depth}:\n" for depth in range(300)) + "  " * 300 + "pass\n"
    assert symbols(deep, "a.py")[0] == "A0"
    assert symbols("(" * 100_000, "a.py") == [None]
    assert symbols("x = 1\n" * 600_000, "a.js") == [None]


def test_nothing_in_it() -> None:
    with pytest.raises(EmptySource, match=r"a\.py holds no text"):
        read_code(" \n", "a.py")


LINES = st.sampled_from(
    ["class A:", "  def f(self): # ñ", "    pass", "", "@d", "# c", "}", "function g() {", "func M() {", '"""', "\f"]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=10)


@given(st.lists(LINES | TEXTS), st.sampled_from(LANGUAGES))
def test_parts_cover_any_text(lines: list[str], language: CodeLanguage) -> None:
    content = "\n".join(lines)
    if content.strip():
        assert code_language(f"x{language.suffixes[0]}") is language
        symbols(content, f"x{language.suffixes[0]}")
