"""What a document's page shows: outline, tables, extracts, and the statistics of a chat."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import answerable
from answerable import Library
from answerable.interfaces import examples
from answerable.interfaces.http.routes.documents import document_overview
from answerable.interfaces.plain import Plain
from answerable.protocols import Embedder

EXAMPLES = Path(examples.__file__).parent / "en"
CODE = '''"""Gates."""


class Gate:
    """A gate."""

    def paint(self) -> str:
        """Return its colour."""
        return "cobalt"
'''


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Library]:
    code = tmp_path_factory.mktemp("code") / "gates.py"
    code.write_text(CODE, "utf-8")
    with answerable.open(":memory:", embedder=embedder, reader="off") as library:
        library.add(EXAMPLES)
        library.add(code)
        yield library


def of(library: Library, name: str) -> Plain:
    return document_overview(library, library.resolve(name))


def test_the_outline_of_a_text_leads_to_its_headings(library: Library) -> None:
    found = of(library, "espresso-machine.md")
    titles = [heading["title"] for heading in found["outline"]]
    assert titles == ["First use", "Daily care", "Descaling", "Grind and dose", "Warranty"]
    heading = found["outline"][2]
    content = library.document(found["document_id"]).content
    assert content[heading["start"] : heading["end"]] == "Descaling"
    assert {heading["level"] for heading in found["outline"]} == {0}


def test_the_outline_of_a_pdf_has_pages(library: Library) -> None:
    found = of(library, "tool-library-rules.pdf")
    assert [(heading["title"], heading["page"]) for heading in found["outline"]][:1] == [("1. Membership", 1)]
    assert found["outline"][-1]["page"] == 2


def test_the_outline_of_code_has_its_names(library: Library) -> None:
    found = of(library, "gates.py")
    assert ("Gate", 0) in [(heading["title"], heading["level"]) for heading in found["outline"]]


def test_tables_and_extracts(library: Library) -> None:
    found = of(library, "espresso-machine.md")
    (table,) = found["tables"]
    assert table["columns"] == ["Basket", "Coffee", "Time"]
    content = library.document(found["document_id"]).content
    assert [content[slice(*span)].count(row[0]) for span, row in zip(table["spans"], table["rows"], strict=True)] == [
        1
    ] * 3
    assert [kind == "number" for kind in table["kinds"]] == [value is not None for value in table["values"][0]]
    assert all(content[each["start"] : each["end"]] == each["quote"] for each in found["extracts"])
    assert found["extracts"]
    assert found["statistics"] is None


def test_a_chat_has_statistics_and_no_table(library: Library) -> None:
    found = of(library, "WhatsApp Chat with Lisbon weekend.txt")
    statistics = found["statistics"]
    assert sum(statistics["by_hour"]) == statistics["messages"] == 18
    assert statistics["by_hour"][18] == 3
    assert found["tables"] == []
