"""Chunks of code and of records: whole pieces where they fit, everything covered, and what can be quoted of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import Chunk
from answerable.sources.code import read_code
from answerable.sources.records import read_records
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans, pack, statement_spans


def function(name: str, lines: int) -> str:
    return f"def {name}():\n" + "".join(f"    step_{number} = {number}\n" for number in range(lines)) + "\n"


def chunks(content: str, size: int, name: str = "/src/bills.py") -> list[Chunk]:
    return SplitterByType(size, 0).split(read_code(content, name))


def test_small_functions_share_a_chunk_and_long_ones_are_cut_at_lines() -> None:
    content = function("a", 2) + function("b", 2) + function("c", 40) + function("d", 1)
    found = chunks(content, 200)
    assert found[0].content == (function("a", 2) + function("b", 2)).strip()
    assert str(found[0].location) == "a, lines 1-7"
    assert all(chunk.content.splitlines()[-1].strip().startswith("step_") for chunk in found[1:-1])
    assert {chunk.location.symbol for chunk in found[1:-1]} == {"c"}
    assert found[-1].content == function("d", 1).strip()


def test_a_class_is_one_chunk_or_cut_between_its_methods() -> None:
    methods = "".join("    " + line + "\n" for line in (function("one", 3) + function("two", 3)).rstrip().split("\n"))
    content = function("before", 1) + "class Factura:\n    '''Una factura.'''\n\n" + methods
    (whole,) = chunks(content, 1000)
    assert whole.context == "bills.py › before, Factura, Factura.one, Factura.two › before factura one two"
    assert [chunk.location.symbol for chunk in chunks(content, 150)] == ["before", "Factura", "Factura.two"]
    assert chunks(content, 150)[1].content.startswith("class Factura")


def test_names_are_searched_by_their_words() -> None:
    (chunk,) = chunks("function parseHTTPDueDate() {}\n", 100, "/src/a.js")
    assert chunk.context == "a.js › parseHTTPDueDate › parse http due date"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a = 1\nb = 2\n", ["a = 1", "b = 2"]),
        ("call(\n    1,\n    2,\n)\nb = '('\nc = 3\n", ["call(\n    1,\n    2,\n)", "b = '('", "c = 3"]),
        ("# One\n# comment.\nx = 1  # (\ny = 2\n", ["# One\n# comment.", "x = 1  # (", "y = 2"]),
        ('"""Title.\n\nTwo\nlines.\n"""\nx = 1\n', ['"""Title.', 'Two\nlines.\n"""', "x = 1"]),
        ("if (x) {\n  y();\n}\n", ["if (x) {", "y();"]),
        ("/**\n * Adds.\n */\nint f();\n", ["/**\n * Adds.\n */", "int f();"]),
        ("f(\n" + "  1,\n" * 9, ["f(" + "\n  1," * 7, "1,\n  1,"]),
    ],
)
def test_statements(code: str, expected: list[str]) -> None:
    assert [code[start:end] for start, end in statement_spans(code)] == expected


def test_code_is_quoted_by_statement() -> None:
    (chunk,) = chunks("LIMIT = 30  # días\n\n\ndef f():\n    '''Does it.'''\n    return LIMIT\n", 500)
    texts = [chunk.content[start:end] for start, end in evidence_spans(chunk, "es")]
    assert texts == ["LIMIT = 30  # días", "def f():", "'''Does it.'''", "return LIMIT"]


def test_rows_are_packed_whole() -> None:
    rows = [f"{number},row number {number}" for number in range(40)]
    document = read_records("id,text\n" + "\n".join(rows) + "\n", "a.csv")
    found = SplitterByType(100, 20).split(document)
    assert found[0].content.startswith("id,text\n0,row number 0\n")
    assert [row for chunk in found for row in chunk.content.split("\n")] == ["id,text", *rows]
    assert str(found[0].location) == "lines 1-7"
    assert {chunk.context for chunk in found} == {"a › id, text"}


@given(st.lists(st.integers(1, 30), min_size=1), st.integers(1, 60))
def test_packing(lengths: list[int], size: int) -> None:
    starts = [sum(lengths[:number]) for number in range(len(lengths) + 1)]
    spans = list(pack(starts, size))
    assert spans[0][0] == 0
    assert spans[-1][1] == starts[-1]
    assert all(one[1] == other[0] for one, other in pairwise(spans))
    assert all(end - start <= size or (start, end) in set(pairwise(starts)) for start, end in spans)


LINES = st.sampled_from(
    ["class A:", "    def f(self):", "        return (1,", "        2)", "", "# ñ", "x = 1", '"""', "}"]
)


@given(
    st.lists(LINES | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))), st.integers(10, 80)
)
def test_chunks_and_quotes_of_any_code(lines: list[str], size: int) -> None:
    content = "\n".join(lines)
    if not content.strip():
        return
    position = 0
    for chunk in chunks(content, size):
        assert content[chunk.start : chunk.end] == chunk.content
        assert not content[position : chunk.start].strip()
        position = chunk.end
        end = 0
        for span in evidence_spans(chunk, "en"):
            assert end <= span[0] < span[1] <= len(chunk.content)
            end = span[1]
    assert not content[position:].strip()
