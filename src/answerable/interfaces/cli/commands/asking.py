"""The commands that ask a library."""

from __future__ import annotations

from typing import Annotated

import typer

from answerable.interfaces.cli import render
from answerable.interfaces.cli.filters import build_filter
from answerable.interfaces.cli.options import (
    JsonOption,
    LanguageOption,
    LibraryOption,
    ModelOption,
    SenderOption,
    SinceOption,
    SourceOption,
    TypeOption,
    UntilOption,
    WhereOption,
    open_library,
)


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    library: LibraryOption = None,
    model: ModelOption = None,
    sender: SenderOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    kind: TypeOption = None,
    source: SourceOption = None,
    language: LanguageOption = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the documents, every sentence with its source. Where they don't say, the answer says so.

    Without a model the answer is quotes. What a model writes is checked against the passages that it was given.
    """
    from answerable.interfaces.cli.streaming import follow

    with open_library(library, model) as opened:
        filters = build_filter(opened, sender, since, until, kind, source, language, where)
        answer = opened.ask(question, filters) if as_json else follow(opened.ask_stream(question, filters), question)
    render.answer(answer, as_json)


def chat(library: LibraryOption = None, model: ModelOption = None) -> None:
    """Ask question after question. One that follows up ("and on Sunday?") is searched for with the words it leaves out.

    /sources, /why and /filter show and change what an answer rests on, /help says how; exit ends it. Questions may
    come through a pipe, one a line.
    """
    from answerable.interfaces.cli.commands.chat import Chat

    Chat(lambda: open_library(library, model)).run()


def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to look for.")],
    library: LibraryOption = None,
    k: Annotated[int, typer.Option("-k", metavar="NUMBER", min=1, max=1000, help="How many passages.")] = 10,
    sender: SenderOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    kind: TypeOption = None,
    source: SourceOption = None,
    language: LanguageOption = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the passages that have most to say on a question."""
    with open_library(library) as opened:
        filters = build_filter(opened, sender, since, until, kind, source, language, where)
        results = opened.search(question, k, filters)
    render.results(results, results.narrowing, as_json)
