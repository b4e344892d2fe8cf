"""What `answerable chat` does: a loop over `Library.ask` that keeps the last exchanges and the filter."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from answerable.datatypes import Answer, Exchange
from answerable.errors import AnswerableError, LibraryError
from answerable.interfaces.cli import render
from answerable.interfaces.cli.filters import Conditions, conditions_filter, read_conditions, spell_conditions
from answerable.interfaces.cli.streaming import follow
from answerable.library import Library
from answerable.text.characters import encodable

PROMPT = "> "
REMEMBERED = 20
HELP = """\
Type a question. One that follows up, such as "and on Sunday?", is searched for with the words it leaves out.
/sources                     the quotes of the last answer with their places and links
/why                         what was searched for, the filter, the passages, the check, tokens, cost, timings
/filter                      the filter that is set
/filter from=Ana type=pdf    set it: from, since, until, type, source, language (from= takes one away)
/filter none                 ask all documents again
/exit                        end (exit, quit, sair, salir and the end of input do too)"""

_COMMAND = re.compile(r"/(\w*)(?:\s+(.*))?", re.DOTALL)
_EXITS = frozenset("exit quit sair salir".split())


@dataclass(frozen=True, slots=True)
class _Answered:
    """An answer with the filter that it was given under."""

    answer: Answer
    conditions: Conditions


class Chat:
    """A conversation on the standard streams. The library is opened when it is first asked, and kept."""

    def __init__(self, open_library: Callable[[], Library]) -> None:
        self._open_library = open_library
        self._library: Library | None = None
        self._history: list[Exchange] = []
        self._last: _Answered | None = None
        self._conditions: Conditions = {}
        self._has_printed = False

    def run(self) -> None:
        """Answers line after line up to the end of input."""
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
        render.note("Ask your documents. /help shows what else there is, exit ends.")
        try:
            self._opened()
        except (AnswerableError, ValueError, OSError) as error:
            render.error(str(error))
        except KeyboardInterrupt:
            self._close()

    def _take(self, line: str, is_terminal: bool) -> None:
        if not line:
            return
        if self._has_printed and not is_terminal:
            render.note("")
        self._has_printed = True
        try:
            self._obey(line)
        except KeyboardInterrupt:
            if not is_terminal:
                raise
            # What was interrupted halfway is opened anew.
            self._close()
            render.note("\ninterrupted", is_warning=True)
        if is_terminal:
            render.note("")

    def _obey(self, line: str) -> None:
        command = _COMMAND.fullmatch(line)
        if command is None:
            self._ask(line)
            return
        name, rest = command[1].casefold(), (command[2] or "").strip()
        if name == "help":
            render.note(HELP)
        elif name == "filter":
            self._filter(rest)
        elif name not in ("sources", "why"):
            render.error(f"There is no command /{name}. /help shows those that there are.")
        elif self._last is None:
            render.error(f"/{name} shows what the last answer rests on. Ask something first.")
        elif name == "sources":
            render.sources(self._last.answer)
        else:
            render.why(self._last.answer, spell_conditions(self._last.conditions))

    def _ask(self, question: str) -> None:
        try:
            library = self._opened()
            events = library.ask_stream(question, conditions_filter(library, self._conditions), self._history)
            answer = follow(events, question)
        except (AnswerableError, ValueError, OSError) as error:
            self._fail(error)
            return
        self._history = [*self._history, Exchange(question, answer.question, answer.text)][-REMEMBERED:]
        self._last = _Answered(answer, self._conditions)
        render.answer(answer, as_json=False)

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
        render.note(f"filter: {spell_conditions(self._conditions) or 'none'}")

    def _fail(self, error: Exception) -> None:
        """Says what went wrong. A library that failed is opened anew for the next question."""
        render.error(str(error))
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
    """The next line without the white space around it; None at the end of input, or at Ctrl-C in a terminal."""
    if not is_terminal:
        line = sys.stdin.readline()
        return line.replace("\ufeff", "").strip() if line else None
    try:
        # A terminal can send what is no character: lone surrogates, which no document holds.
        return encodable(input(PROMPT)).strip()
    except (EOFError, KeyboardInterrupt):
        render.note("")
        return None
