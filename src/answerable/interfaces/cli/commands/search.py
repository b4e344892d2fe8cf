"""`answerable search`: show the most relevant passages."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from answerable.datatypes import SearchResults
from answerable.interfaces.cli.options import (
    FilterOptions,
    JsonOption,
    LibrariesOption,
    QuestionArgument,
    one_text,
    open_libraries,
)
from answerable.interfaces.cli.printing import print_json, print_text
from answerable.interfaces.plain import narrowing_json, result_json, unavailable_json

_SNIPPET = 300


def search(
    question: QuestionArgument,
    filters: FilterOptions,
    library: LibrariesOption = None,
    k: Annotated[int, Option("-k", metavar="NUMBER", min=1, max=1000, help="Number of passages.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Show the most relevant passages for a question."""
    from answerable.interfaces.cli.filters import build_filter

    asked = one_text(question)
    with open_libraries(library) as opened:
        where = build_filter(opened, filters)
        results = opened.search(asked, k, where)
    if as_json:
        found = [result_json(result) for result in results]
        print_json(
            {"narrowing": narrowing_json(results.narrowing), "results": found, **unavailable_json(results.unavailable)}
        )
    else:
        _print(results)


def _print(results: SearchResults) -> None:
    from answerable.interfaces.cli.render import print_narrowing, print_passages, print_unavailable

    print_narrowing(results.narrowing)
    print_unavailable(results.unavailable)
    if not results:
        print_text(("nothing found", "yellow"))
    print_passages(results, longest=_SNIPPET)
