"""The questions and tables of WikiTableQuestions (Pasupat & Liang 2015, arXiv:1508.00305), which have only answers."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from answerable.computing.source import Source
from answerable.sources.records import read_records
from answerable.tables.find import find_tables

HELD = 10
"""One of so many tables is kept from training."""


def is_held(name: str) -> bool:
    """Return whether a table is kept from training."""
    return crc32(name.encode()) % HELD == 0


def wiki_questions(folder: Path) -> Iterator[tuple[str, str, list[str], Source]]:
    """Yield questions with the names of their tables, their answers and the tables, those that we read as one table."""
    tables: dict[str, Source | None] = {}
    with (
        zipfile.ZipFile(folder / "wikitablequestions-tables.zip") as archive,
        gzip.open(folder / "wikitablequestions-train.jsonl.gz", "rt") as lines,
    ):
        for line in lines:
            each = json.loads(line)
            name = each["table"]
            if name not in tables:
                tables[name] = _table(archive.read(name).decode("utf-8"), name)
            if source := tables[name]:
                yield each["question"], name, each["answers"], source


def _table(text: str, name: str) -> Source | None:
    rows = csv.reader(io.StringIO(text), escapechar="\\")
    written = io.StringIO()
    csv.writer(written).writerows([cell.replace("\n", " ") for cell in row] for row in rows)
    document = read_records(written.getvalue(), name.replace("/", "-"))
    found = find_tables(document)
    return Source(document, found[0]) if len(found) == 1 else None
