"""What both scripts do at the terminal: UTF-8, logging, exit statuses, and nothing of a page that steers it."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable

from answerable.errors import AnswerableError, SettingsError
from book import settings

BAD_SETTING = 2
INTERRUPTED = 130
CUT_SHORT = 141
"""What a shell reports of a program that SIGPIPE ended."""


def run(work: Callable[[], int]) -> int:
    """The exit status of a script's work: 1 after an error, 2 where a setting or an argument makes no sense."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        # Of our own only: other packages' logs may hold keys.
        logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING, stream=sys.stderr)
        logging.getLogger("book").setLevel(settings.log_level())
        status = work()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Who read has seen enough (`| head`); what is still to be written goes nowhere, also when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CUT_SHORT
    except (SettingsError, ValueError) as error:
        print(printable(str(error)), file=sys.stderr)
        return BAD_SETTING
    except AnswerableError as error:
        print(printable(str(error)), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted. What was stored before stays; run it again to go on.", file=sys.stderr)
        return INTERRUPTED


def leave(status: int) -> None:
    """Ends the process with that status."""
    if status == INTERRUPTED:
        # A page under way may take its time, and nothing is lost without it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def printable(text: str) -> str:
    """A text on one line, without what a terminal would obey."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())
