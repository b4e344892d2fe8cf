"""The model that reads tables, as it is packaged: plain questions give their plans, alike alone and together."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from answerable.computing.parse import parse
from answerable.computing.plan import Plan
from answerable.computing.source import Source
from answerable.computing.table_text import table_text
from answerable.e5.readers import E5TableReader
from answerable.e5.weights import ReaderWeights
from answerable.sources.records import read_records
from answerable.tables.find import find_tables

SHIFTS = """Date,Driver,Van,Parcels,Late
2024-03-01,Ana,blue,41,no
2024-03-02,Luis,red,38,yes
2024-03-04,Ana,red,52,no
2024-04-01,Mia,blue,47,
2024-04-03,Luis,blue,29,no
"""


@pytest.fixture(scope="module")
def reader(cache_folder: Path) -> E5TableReader:
    return E5TableReader(threads=1, cache_folder=cache_folder / "models")


TOWNS = "Town,Population\nAxe,120000\nBeer,450000\nCorfe,900000\nDale,90000\n"


def best(reader: E5TableReader, question: str, rows: str = SHIFTS) -> Plan:
    document = read_records(rows, "shifts.csv")
    (table,) = find_tables(document)
    source = Source(document, table)
    text = table_text(question, source)
    (reading,) = reader.read(question, [text.text])
    return parse(question, "en", source, text, reading, datetime(2024, 6, 1))[0].plan


@pytest.mark.parametrize(
    ("question", "operation", "column", "rows"),
    [
        ("how many shifts did Ana drive?", "count", -1, [0, 2]),
        ("total parcels of the red van", "sum", 3, [1, 2]),
        ("which shift had the most parcels?", "most", 3, [0, 1, 2, 3, 4]),
        ("list the shifts of Luis", "list", -1, [1, 4]),
    ],
)
def test_plain_questions(reader: E5TableReader, question: str, operation: str, column: int, rows: list[int]) -> None:
    plan = best(reader, question)
    assert (plan.operation, plan.rows) == (operation, rows)
    assert column in (-1, plan.column)


def test_thousands_are_no_decimals(reader: E5TableReader) -> None:
    assert best(reader, "how many towns have a population above 300,000?", TOWNS).rows == [1, 2]
    assert best(reader, "which towns have a population under 100.000?", TOWNS).rows == [3]


def test_a_word_of_a_cell_and_a_number_are_in_a_condition(reader: E5TableReader) -> None:
    assert best(reader, "how many parcels did Mia take in the van?").rows == [3]
    with pytest.raises(IndexError):
        best(reader, "how many shifts are there of 7 kinds?")


def test_tables_are_read_alike_alone_and_together(reader: E5TableReader) -> None:
    tables = ["shifts: Driver (text) = Ana, Luis; Parcels (number); ", "costs: Item (text); Price (number EUR); "]
    together = reader.read("how many parcels in total?", tables)
    for table, read in zip(tables, together, strict=True):
        (alone,) = reader.read("how many parcels in total?", [table])
        assert read.tokens == pytest.approx(alone.tokens, abs=0.2)
        assert np.array_equal(read.starts, alone.starts)
    assert reader.read("how many?", []) == []


def test_the_packaged_weights_say_how_they_were_made() -> None:
    assert {"examples", "seed", "figures"} <= ReaderWeights("tables.npz").about.keys()
