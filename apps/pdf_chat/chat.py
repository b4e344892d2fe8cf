"""Questions and answers in the terminal: `python chat.py`. It ends with sair, exit or quit, Ctrl+C or Ctrl+D."""

from __future__ import annotations

import os
import signal
import sys

if __name__ == "__main__":
    # What follows takes seconds to import: Ctrl+C ends the chat then, too.
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))

from answerable.answering import visible
from pdf_chat.console import use_utf8
from pdf_chat.errors import RAGError, explanation, user_message
from search import search_prompt

EXIT_WORDS = frozenset({"sair", "exit", "quit"})


def main() -> None:
    """Asks for questions and answers them until the user goes."""
    use_utf8()
    try:
        while True:
            print("Faça sua pergunta:", flush=True)
            question = input().strip()
            if question.casefold() in EXIT_WORDS:
                return
            if question:
                _reply(question)
    except (KeyboardInterrupt, EOFError):
        # The cursor stands behind what was typed.
        print()


def _reply(question: str) -> None:
    try:
        print(f"RESPOSTA: {visible(search_prompt(question))}", flush=True)
    except RAGError as error:
        print(user_message(error), flush=True)
        if explanation(error):
            print(explanation(error), file=sys.stderr, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main()
