"""`answerable ask`, `chat`, `demo`, `search` and `places`: answers, passages, and where a text appears."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from answerable.interfaces.cli.options import (
    FilterOptions,
    JsonOption,
    LibrariesOption,
    ModelOption,
    QuestionArgument,
    one_text,
    open_libraries,
)
from answerable.interfaces.cli.printing import linked, print_address, print_json, print_text
from answerable.interfaces.plain import answer_json, citation_json, narrowing_json, result_json, unavailable_json

if TYPE_CHECKING:
    from answerable.answering.search import SearchResults


def ask(
    question: QuestionArgument,
    filters: FilterOptions,
    library: LibrariesOption = None,
    model: ModelOption = None,
    why: Annotated[
        bool,
        Option("--why", "-v", "--verbose", help="Show by which steps and values the answer came out, or the refusal."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the documents, with a source for every sentence, or report that they don't answer it.

    Without a model the answer is quotes. What a model writes is checked against the passages it was given.
    """
    from answerable.interfaces.cli.filters import build_filter
    from answerable.interfaces.cli.render import follow, print_answer, print_why

    asked = one_text(question)
    with open_libraries(library, model) as opened:
        where = build_filter(opened, filters)
        answer = opened.ask(asked, where) if as_json else follow(opened.ask_stream(asked, where), asked)
    print_answer(answer, as_json, why)
    if why and not as_json:
        print_text("")
        print_why(answer)


def chat(library: LibrariesOption = None, model: ModelOption = None) -> None:
    """Ask question after question. Follow-ups ("and on Sunday?") are completed from the questions before.

    /sources and /why explain an answer, /filter narrows the search, /help lists the commands; exit ends. Questions may
    also come from a pipe, one per line.
    """
    from answerable.interfaces.cli.chatting import Chat

    Chat(lambda: open_libraries(library, model)).run()


_SNIPPET = 300  # characters: about three lines of a terminal


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
        left_out = unavailable_json(results.unavailable, results.waiting)
        print_json({"narrowing": narrowing_json(results.narrowing), "results": found, **left_out})
    else:
        _print(results)


def _print(results: SearchResults) -> None:
    from answerable.interfaces.cli.render import print_narrowing, print_passages, print_unavailable

    print_narrowing(results.narrowing)
    print_unavailable(results.unavailable, waiting=results.waiting)
    if not results:
        print_text(("nothing found", "yellow"))
    print_passages(results, longest=_SNIPPET)


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


def demo(
    question: Annotated[
        list[str] | None, Argument(metavar="QUESTION", help="Your own question; otherwise four of ours are asked.")
    ] = None,
    language: Annotated[Literal["en", "es", "pt"], Option(help="Of the documents and questions.")] = "en",
    as_json: JsonOption = False,
) -> None:
    """Ask the example documents: a chat, a PDF, a guide and a table.

    They are added to a library in memory, so nothing is kept. No model writes, and nothing leaves this machine.
    """
    from answerable.interfaces.cli.render import print_answer
    from answerable.interfaces.examples import QUESTIONS, example_documents
    from answerable.settings import load_settings
    from answerable.wiring.build import build_library
    from answerable.wiring.providers import EXTRACTIVE
    from answerable.wiring.stores import MEMORY

    settings = load_settings({"library": MEMORY, "embedder": "local", "model": EXTRACTIVE})
    answers = []
    with build_library(settings) as library:
        for path in example_documents(language):
            library.add(path)
            if not as_json:
                print_text((f"added {path.name}", "dim"))
        for asked in (one_text(question),) if question else QUESTIONS[language]:
            answer = library.ask(asked)
            answers.append(answer_json(answer))
            if not as_json:
                print_text("")
                print_text((f"? {asked}", "bold"))
                print_answer(answer, as_json=False, shown_by="")
    if as_json:
        print_json({"answers": answers})
    else:
        print_text("")
        print_text("Now your own: answerable add FOLDER, then answerable ask QUESTION. Nothing of this demo is kept.")
