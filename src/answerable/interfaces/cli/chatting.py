"""A chat in the terminal, which remembers the last exchanges and the filter."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from contextlib import suppress

from answerable.datatypes import Answer, Exchange
from answerable.errors import AnswerableError, LibraryError
from answerable.interfaces.cli.filters import Conditions, conditions_filter, read_conditions, spell_conditions
from answerable.interfaces.cli.printing import linked, one_line, print_address, print_error, print_failure, print_text
from answerable.interfaces.cli.render import (
    addresses_of,
    elsewhere_of,
    follow,
    place_of,
    print_answer,
    print_nearest,
    print_refused,
    print_why,
    quote_of,
)
from answerable.library import Library
from answerable.text.characters import encodable

_PROMPT = "> "
_REMEMBERED = 20  # exchanges: more than any follow-up refers to; a guess, not measured
_HELP = """\
Type a question. A follow-up such as "and on Sunday?" is completed from the question before it.
/sources                     quotes of the last answer with their places and links; of a refusal, the nearest passages
/why                         why the last answer came out as it did: its steps, passages and checks
/filter                      show the filter
/filter from=Ana type=pdf    set the filter: from, since, until, type, source, language (from= clears one)
/filter none                 clear the filter
/exit                        end the chat (also: exit, quit, sair, salir, end of input)"""

_COMMAND = re.compile(r"/(\w*)(?:\s+(.*))?", re.DOTALL)
_EXITS = frozenset("exit quit sair salir".split())


class Chat:
    """A conversation on the standard streams. The library is opened at the first question and stays open."""

    def __init__(self, open_library: Callable[[], Library]) -> None:
        self._open_library = open_library
        self._library: Library | None = None
        self._history: list[Exchange] = []
        self._last: tuple[Answer, Conditions] | None = None
        self._conditions: Conditions = {}
        self._has_printed = False

    def run(self) -> None:
        """Answer each line of the input until it ends."""
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding=sys.stdin.encoding if is_terminal else "utf-8", errors="replace")
        try:
            if is_terminal:
                self._greet()
            while (line := _read_line(is_terminal)) is not None and not _ends(line):
                self._take(line, is_terminal)
        finally:
            self._close()

    def _greet(self) -> None:
        with suppress(ImportError):
            import readline  # noqa: F401 - editing and history, in memory only, for input()
        print_text("Ask your documents. /help lists the commands, exit ends the chat.")
        try:
            self._opened()
        except (AnswerableError, ValueError, OSError) as error:
            print_failure(error)
        except KeyboardInterrupt:
            self._close()

    def _take(self, line: str, is_terminal: bool) -> None:
        if not line:
            return
        if self._has_printed and not is_terminal:
            print_text("")
        self._has_printed = True
        try:
            self._run(line)
        except KeyboardInterrupt:
            if not is_terminal:
                raise
            # Close the library, which may be in an undefined state after an interruption; the next question reopens it.
            self._close()
            print_text(("\ninterrupted", "yellow"))
        if is_terminal:
            print_text("")

    def _run(self, line: str) -> None:
        command = _COMMAND.fullmatch(line)
        if command is None:
            self._ask(line)
            return
        name, rest = command[1].casefold(), (command[2] or "").strip()
        if name == "help":
            print_text(_HELP)
        elif name == "filter":
            self._filter(rest)
        elif name not in ("sources", "why"):
            print_error(f"There is no command /{name}. /help lists the commands.")
        elif self._last is None:
            print_error(f"/{name} explains the last answer. Ask something first.")
        elif name == "sources":
            _print_sources(self._last[0])
        else:
            print_refused(self._last[0])
            print_why(self._last[0], spell_conditions(self._last[1]))

    def _ask(self, question: str) -> None:
        try:
            library = self._opened()
            events = library.ask_stream(question, conditions_filter(library, self._conditions), self._history)
            answer = follow(events, question)
        except (AnswerableError, ValueError, OSError) as error:
            self._fail(error)
            return
        self._history = [*self._history, Exchange(question, answer.question, answer.text)][-_REMEMBERED:]
        self._last = (answer, self._conditions)
        print_answer(answer, as_json=False, shown_by="/sources")

    def _filter(self, text: str) -> None:
        if text:
            try:
                conditions = read_conditions(text, self._conditions)
                if conditions:
                    conditions_filter(self._opened(), conditions)
            except (AnswerableError, ValueError, OSError) as error:
                self._fail(error)
                return
            self._conditions = conditions
        print_text(f"filter: {spell_conditions(self._conditions) or 'none'}")

    def _fail(self, error: Exception) -> None:
        """Print an error. If the library failed, reopen it for the next question."""
        print_failure(error)
        if isinstance(error, (LibraryError, OSError)):
            self._close()

    def _opened(self) -> Library:
        if self._library is None:
            self._library = self._open_library()
        return self._library

    def _close(self) -> None:
        library, self._library = self._library, None
        if library is not None:
            library.close()


def _ends(line: str) -> bool:
    return line.removeprefix("/").casefold() in _EXITS


def _read_line(is_terminal: bool) -> str | None:
    """Read the next line, stripped; None at the end of input, or after Ctrl-C in a terminal."""
    if not is_terminal:
        line = sys.stdin.readline()
        return line.replace("\ufeff", "").strip() if line else None
    try:
        # A terminal can send lone surrogates, which can't be encoded and which no document contains.
        return encodable(input(_PROMPT)).strip()
    except (EOFError, KeyboardInterrupt):
        print_text("")
        return None


def _print_sources(found: Answer) -> None:
    if not found.answered and found.results:
        print_nearest(found)
    elif not found.citations:
        print_text(("the last answer quotes nothing", "yellow"))
    for number, citation in enumerate(found.citations, 1):
        place = place_of(citation, citation.location, found.language)
        elsewhere = elsewhere_of(citation.other_places, found.language)
        print_text((f"[{number}] ", "bold cyan"), (place, linked("", citation.link)), elsewhere)
        print_text(f"    “{one_line(quote_of(found, citation))}”")
        for shown, address in addresses_of(citation, found.language):
            print_address(shown, address)
