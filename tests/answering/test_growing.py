"""Test how quotes are expanded by lists, code and reasons, and that rows are shown with their column names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import answerable
from answerable import Library

FILES = {
    "guide.md": """# Club guide

## Packing

For the camp each child must bring these things:

- a sleeping bag
- two pairs of boots
- a torch with batteries
- a cup

Phones stay at home.

## Site

Generate a new site with the classic template.

The command takes a minute:

```bash
npx create-site my-club classic
```

Then open the folder.

## Boats

We never row after dark. This is because the river has no lights and barges pass at night.

The boathouse address is:
Mill Lane 3
OX1 4AB Oxford

| Item | Price |
|---|---|
| Flights | 1,240 EUR |
| Hotel | 800 EUR |
""",
    "socios.md": """# Socios

Hay tres categorías:

1. Socio fundador, con voto doble.
2. Socio de número,
   con voto.
3. Socio infantil, sin voto.

La cuota se paga en enero.
""",
    "compras.md": "# Festa\n\nA lista de compras:\n"
    + "".join(f"* produto número {n}\n" for n in range(1, 33))
    + "\nFim.\n",
    "people.json": '[{"name": "Ana", "address": {"city": "Lugo"}}, {"name": "Bo", "address": {"city": "Vigo"}}]',
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("growing")
    for name, content in FILES.items():
        Path(folder / name).write_text(content, "utf-8")
    with answerable.open(":memory:") as made:
        assert made.add(folder).failures == []
        yield made


def shown(library: Library, question: str) -> list[str]:
    """The lines of the answer below the first; each quote stands in its document, letter for letter."""
    answer = library.ask(question)
    assert answer.answered
    for citation in answer.citations:
        assert library.document(citation.document_id).content[citation.start : citation.end] == citation.quote
    return answer.text.splitlines()[1:]


def test_a_sentence_brings_the_list_that_it_introduces(library: Library) -> None:
    assert shown(library, "what must each child bring to the camp?")[:5] == [
        "“For the camp each child must bring these things:",
        "- a sleeping bag",
        "- two pairs of boots",
        "- a torch with batteries",
        "- a cup” [1]",
    ]


def test_an_item_brings_its_list_if_several_things_are_asked_for(library: Library) -> None:
    lines = shown(library, "¿cuáles son las categorías de socios?")
    assert lines[:5] == [
        "“Hay tres categorías:",
        "1. Socio fundador, con voto doble.",
        "2. Socio de número,",
        "   con voto.",
        "3. Socio infantil, sin voto.” [1]",
    ]
    assert shown(library, "do I need a torch?")[0] == "“- a torch with batteries” [1]"


def test_a_long_list_is_cut_after_an_item(library: Library) -> None:
    lines = shown(library, "o que tem na lista de compras da festa?")
    assert lines[0] == "“A lista de compras:"
    assert lines[25] == "* produto número 25” … e mais 7 [1]"


def test_code_addresses_and_reasons(library: Library) -> None:
    assert "npx create-site my-club classic” [1]" in shown(library, "how do I generate a new site?")
    assert shown(library, "what is the address of the boathouse?")[:3] == [
        "“The boathouse address is:",
        "Mill Lane 3",
        "OX1 4AB Oxford” [1]",
    ]
    assert shown(library, "why don't we row after dark?")[0] == (
        "“We never row after dark. This is because the river has no lights and barges pass at night.” [1]"
    )


def test_rows_are_shown_with_their_column_names(library: Library) -> None:
    assert "- Item: Hotel · Price: 800 EUR [1]" in shown(library, "price of the hotel")
    assert "name: Bo · address.city: Vigo [1]" in shown(library, "Bo address")


def test_the_place_of_a_quote_that_has_grown(library: Library) -> None:
    (citation, *_) = library.ask("what must each child bring to the camp?").citations
    assert (citation.location.lines, citation.location.headings) == ((5, 10), ("Club guide", "Packing"))
