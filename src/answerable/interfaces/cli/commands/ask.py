"""`answerable ask`: answer one question."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from answerable.interfaces.cli.options import (
    FilterOptions,
    JsonOption,
    LibrariesOption,
    ModelOption,
    QuestionArgument,
    one_text,
    open_libraries,
)


def ask(
    question: QuestionArgument,
    filters: FilterOptions,
    library: LibrariesOption = None,
    model: ModelOption = None,
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="After a refusal, show the nearest passages and why they don't do.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the documents, with a source for every sentence, or report that they don't answer it.

    Without a model the answer is quotes. What a model writes is checked against the passages it was given.
    """
    from answerable.interfaces.cli.filters import build_filter
    from answerable.interfaces.cli.render import print_answer
    from answerable.interfaces.cli.streaming import follow

    asked = one_text(question)
    with open_libraries(library, model) as opened:
        where = build_filter(opened, filters)
        answer = opened.ask(asked, where) if as_json else follow(opened.ask_stream(asked, where), asked)
    print_answer(answer, as_json, verbose)
