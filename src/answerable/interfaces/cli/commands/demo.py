"""`answerable demo`: try it on the example documents."""

from __future__ import annotations

from typing import Annotated, Literal, Optional

from typer import Argument, Option

from answerable.interfaces.cli.options import JsonOption, one_text


def demo(
    question: Annotated[
        Optional[list[str]], Argument(metavar="QUESTION", help="Your own question; otherwise four of ours are asked.")
    ] = None,
    language: Annotated[Literal["en", "es", "pt"], Option(help="Of the documents and questions.")] = "en",
    as_json: JsonOption = False,
) -> None:
    """Ask the example documents: a chat, a PDF, a guide and a table.

    They are added to a library in memory, so nothing is kept. No model writes, and nothing leaves this machine.
    """
    from answerable.interfaces.cli.printing import print_json, print_text
    from answerable.interfaces.cli.render import print_answer
    from answerable.interfaces.examples import QUESTIONS, example_documents
    from answerable.interfaces.plain import answer_json
    from answerable.settings import load_settings
    from answerable.wiring.build import EXTRACTIVE, MEMORY, build_library

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
