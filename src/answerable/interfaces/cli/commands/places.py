"""`answerable places`: show where a text appears."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from answerable.interfaces.cli.options import FilterOptions, JsonOption, LibrariesOption, one_text, open_libraries
from answerable.interfaces.cli.printing import linked, print_address, print_json, print_text
from answerable.interfaces.plain import citation_json


def places(
    quote: Annotated[list[str], Argument(metavar="QUOTE", help="A sentence or more, as an answer quotes it.")],
    filters: FilterOptions,
    library: LibrariesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show where exactly this text appears, in up to 512 passages of each language."""
    from answerable.interfaces.cli.filters import build_filter
    from answerable.interfaces.cli.render import addresses_of, place_of

    text = one_text(quote)
    with open_libraries(library) as opened:
        found = opened.places(text, build_filter(opened, filters))
    if as_json:
        print_json({"places": [citation_json(place) for place in found]})
        return
    if not found:
        print_text(("nothing found: no passage has exactly these words", "yellow"))
    for number, each in enumerate(found, 1):
        print_text((f"{number}. ", "bold cyan"), (place_of(each, each.location), linked("", each.link)))
        for shown, address in addresses_of(each, "en"):
            print_address(shown, address)
