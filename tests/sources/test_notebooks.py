"""Jupyter notebooks: cells with their numbers and headings, code by statement, outputs without pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import answerable
from answerable.datatypes import Document, DocumentType, PartKind
from answerable.errors import DamagedSource, EmptySource
from answerable.formats.locate import Locator
from answerable.sources.dispatch import read_bytes
from answerable.sources.notebook import LONGEST
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans

PICTURE = "iVBORw0KGgo" * 100
CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "source": ["# Rain in Galway\n", "\n", "We measured the rain of a winter."]},
    {
        "cell_type": "code",
        "source": "gauge = open_gauge(\n    place='Galway',\n)\n# millimetres\nrain = gauge.total()\nprint(rain)",
        "outputs": [
            {
                "output_type": "stream",
                "name": "stdout",
                "text": ["10%\r", "100%\nThe total is \x1b[31m842\x1b[0m mm\n"],
            },
            {"output_type": "display_data", "data": {"image/png": PICTURE, "text/plain": ["<Figure size 640x480>"]}},
            {"output_type": "execute_result", "data": {"text/plain": ["   month  rain\n", "0  December   310"]}},
            {"output_type": "error", "ename": "GaugeError", "evalue": "the gauge is frozen", "traceback": ["secret"]},
        ],
    },
    {
        "cell_type": "markdown",
        "source": "First.\n\n## Place\nIt stands on a roof.\n\n## Owner\nIt belongs to Ana.",
    },
    {"cell_type": "markdown", "source": f"![the gauge](data:image/png;base64,{PICTURE})"},
    {"cell_type": "code", "source": "", "outputs": []},
    {"cell_type": "raw", "source": "# Raw words\n"},
]


def notebook(cells: list[Any], **metadata: Any) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells})


def read(content: str, name: str = "rain.ipynb") -> Document:
    (document,) = read_bytes(content.encode(), f"/in/{name}")
    return document


def quoted(document: Document, size: int = 1800) -> list[tuple[str, str]]:
    locator = Locator(document)
    return [
        (chunk.content[start:end], str(locator.location(chunk.start + start, chunk.start + end)))
        for chunk in SplitterByType(size, 0).split(document)
        for start, end in evidence_spans(chunk, "en")
    ]


def test_cells_and_what_they_printed() -> None:
    document = read(notebook(CELLS, language_info={"name": "python"}))
    assert (document.type, document.title) == (DocumentType.NOTEBOOK, "Rain in Galway")
    assert document.metadata == {"programming_language": "python"}
    assert {part.kind for part in document.parts} == {PartKind.CELL}
    assert [part.page for part in document.parts] == [1, 2, 2, 2, 2, 3, 3, 3, 4, 6]
    assert "```python\ngauge = open_gauge(" in document.content
    assert quoted(document) == [
        ("We measured the rain of a winter.", "cell 1, Rain in Galway"),
        ("gauge = open_gauge(\n    place='Galway',\n)", "cell 2, Rain in Galway"),
        ("# millimetres", "cell 2, Rain in Galway"),
        ("rain = gauge.total()", "cell 2, Rain in Galway"),
        ("print(rain)", "cell 2, Rain in Galway"),
        ("100%", "cell 2, Rain in Galway"),
        ("The total is 842 mm", "cell 2, Rain in Galway"),
        ("month  rain", "cell 2, Rain in Galway"),
        ("0  December   310", "cell 2, Rain in Galway"),
        ("GaugeError: the gauge is frozen", "cell 2, Rain in Galway"),
        ("First.", "cell 3, Rain in Galway"),
        ("It stands on a roof.", "cell 3, Rain in Galway › Place"),
        ("It belongs to Ana.", "cell 3, Rain in Galway › Owner"),
        ("the gauge", "cell 4, Rain in Galway › Owner"),
    ]
    assert "secret" not in document.content
    assert PICTURE[:20] not in document.content


def test_a_notebook_from_before_2015_says_what_to_do() -> None:
    with pytest.raises(DamagedSource, match="open it in Jupyter and save it again"):
        read('{"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "1 + 1"}]}]}')


def test_code_cut_into_passages_stays_statements() -> None:
    lines = [f"value_{number} = measure({number})" for number in range(60)]
    document = read(notebook([{"cell_type": "code", "source": "\n".join(lines), "outputs": []}]))
    assert len(SplitterByType(200, 0).split(document)) > 5
    assert [text for text, _ in quoted(document, 200)] == lines


def test_a_fence_in_a_cell_ends_nothing() -> None:
    code = 'text = """\n```\nwords\n```\n"""'
    cells = [{"cell_type": "code", "source": code}, {"cell_type": "markdown", "source": "```\nopen\n"}]
    document = read(notebook([*cells, {"cell_type": "markdown", "source": "# Below\nLast."}]))
    assert document.content.startswith(f"````\n{code}\n````\n")
    assert document.parts[-1].headings == ("Below",)


def test_long_outputs_are_cut() -> None:
    output = {"output_type": "stream", "text": "x\n" * LONGEST}
    document = read(notebook([{"cell_type": "code", "source": "run()", "outputs": [output]}]))
    assert LONGEST <= len(document.content) < LONGEST + 100


@pytest.mark.parametrize(
    ("content", "error", "match"),
    [
        ('{"cells": [', DamagedSource, "not a valid notebook.*save it again"),
        ("[" * 100_000, DamagedSource, "not a valid notebook"),
        ('{"metadata": {}}', DamagedSource, "no list of cells"),
        ('["cells"]', DamagedSource, "no list of cells"),
        (notebook([]), EmptySource, "no cell with text"),
        (notebook([{"cell_type": "markdown", "source": [1, None]}, 3, None]), EmptySource, "no cell with text"),
    ],
)
def test_damaged_and_empty_notebooks(content: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        read(content)


def test_values_of_other_types_are_passed_over() -> None:
    cells = [
        {"cell_type": "code", "source": {"a": 1}, "outputs": {"b": 2}},
        {"cell_type": "code", "source": "x = 1", "outputs": [3, {"output_type": "stream", "text": 4}, {"data": 5}]},
        {"cell_type": "markdown", "source": "# Words \ud800 here"},
        "# Of another type",
    ]
    document = read(notebook(cells, title=7, language_info=[], kernelspec={"language": 9}))
    assert document.title == "7"
    assert document.content == "```\nx = 1\n```\n\n# Words ? here"


def test_a_table_in_a_cell_is_computed(tmp_path: Path) -> None:
    table = "# Trips\n\n| city | nights |\n|---|---|\n| Cork | 2 |\n| Galway | 5 |\n"
    (tmp_path / "trips.ipynb").write_text(notebook([{"cell_type": "markdown", "source": table}]))
    with answerable.open(":memory:") as library:
        library.add(tmp_path / "trips.ipynb")
        answer = library.ask("How many nights in total?")
    assert "7 nights" in answer.text
    assert str(answer.citations[0].location) == "cell 1, Trips"


def test_an_answer_cites_the_cell(tmp_path: Path) -> None:
    path = tmp_path / "rain.ipynb"
    path.write_text(notebook(CELLS))
    with answerable.open(":memory:") as library:
        library.add(path)
        (citation, *_) = library.ask("Where does the gauge stand?").citations
        (total, *_) = library.ask("What is the total of the rain in mm?").citations
        document = library.document(citation.document_id)
    assert document.content[citation.start : citation.end] == citation.quote
    assert "It stands on a roof." in citation.quote
    assert str(citation.location) == "cell 3, Rain in Galway › Place"
    assert citation.link == path.as_uri()
    assert "842 mm" in total.quote
    assert str(total.location) == "cell 2, Rain in Galway"
