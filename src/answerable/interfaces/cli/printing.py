"""Print paragraphs, rows, errors and JSON.

Text from documents is data: it is never read as markup, and its control characters never reach the terminal.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import typer

from answerable.errors import DocumentNotFound

if TYPE_CHECKING:
    # Load Rich only to print text: `--help` and `--json` don't need it.
    from rich.console import Console
    from rich.text import Text

# Control characters are replaced, except tabs and line ends; characters that change the text direction are removed.
_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {9, 10}, "\N{REPLACEMENT CHARACTER}")
_DIRECTIONS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)))
_HARMLESS: dict[int, str | None] = {**_CONTROLS, **_DIRECTIONS}
_OPENS = re.compile(r"(?:https?|file)://", re.IGNORECASE)
_WORD = re.compile(r"(\s*)(\S+)")
# Characters that stay in a link's address; all others, such as those that could end the link, are percent-encoded.
_KEPT = "%/:?=&+,;@!$~*()[]#'"
# Characters that a terminal might interpret and that JSON doesn't escape itself.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Return the text without anything that a terminal would interpret."""
    return text.translate(_HARMLESS)


def one_line(text: str) -> str:
    """Return the text on one line, without anything that a terminal would interpret."""
    return clean(" ".join(text.split()))


class CleanFormatter(logging.Formatter):
    """A log formatter that makes each message one clean line, because Python packages log the content of files."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the message of a record without control characters."""
        return one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """Return the formatted record, with any traceback, without control characters."""
        return clean(super().format(record))


def is_for_users(record: logging.LogRecord) -> bool:
    """Return whether to print a log record: not if it is of PostgreSQL's driver, which logs every closed connection.
    Commands report this as an error.
    """
    return record.name.partition(".")[0] != "psycopg"


def counted(count: int, name: str, plural: str = "") -> str:
    """Return a count with its noun: `1 document`, `2,000 documents`."""
    return f"{count:,} {name if count == 1 else plural or f'{name}s'}"


def bar(share: float, width: int = 20) -> str:
    """Return a bar for a share from 0 to 1, padded to the width."""
    eighths = round(share * width * 8)
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8]).ljust(width)[:width]


def columns(values: Sequence[int], width: int = 60) -> str:
    """Return a one-line column chart. If there are more values than `width`, each column is the sum of several."""
    size = -(-len(values) // width)
    groups = [sum(values[start : start + size]) for start in range(0, len(values), size)]
    highest = max(*groups, 1)
    return "".join(" ▁▂▃▄▅▆▇█"[-(-8 * group // highest)] for group in groups)


def console(stderr: bool = False) -> Console:
    """Return a console without highlighting: as wide as the terminal, or very wide for a pipe."""
    from rich.console import Console

    # A pipe has no width, and a program that reads from it needs whole lines.
    is_terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, highlight=False, width=None if is_terminal else 10_000)


def linked(style: str, address: str) -> str:
    """Return a style for `print_text` that also makes the text a link (OSC 8) to a web or file address."""
    # The Linux console doesn't support links, and older versions print their codes.
    if not _OPENS.match(address) or os.environ.get("TERM") == "linux":
        return style
    return f"{style} link {quote(address, safe=_KEPT)}".lstrip()


def address_of(source: str) -> str:
    """Return the address that opens a document's source: its URL, or the URL of its file or archive; "" for neither."""
    if "://" in source:
        return source
    path = Path(source.partition("!/")[0])
    return path.as_uri() if path.is_absolute() else ""


def print_address(address: str, target: str = "") -> None:
    """Print an address, or a line that ends with the address `target`, unwrapped even in a narrow terminal."""
    print_text("    ", (address, linked("dim", target or address)), wrap=False)


def print_text(*pieces: str | tuple[str, str], stderr: bool = False, wrap: bool = True) -> None:
    """Print a paragraph of strings, or of (text, style) pairs. Pipes get neither styles nor links."""
    from rich.text import Text

    styled = ((piece, "") if isinstance(piece, str) else piece for piece in pieces)
    text = Text.assemble(*((clean(piece), style) for piece, style in styled))
    screen = console(stderr)
    for line in [text] if stderr or not wrap else _lines(text, screen.width):
        screen.print(line, soft_wrap=True)


def _lines(text: Text, width: int) -> Iterator[Text]:
    """Wrap the text between words. A word longer than a line, such as a URL, stays whole so it can be clicked."""
    from rich.cells import cell_len

    for line in text.split(allow_blank=True):
        cuts, used = [], 0
        for word in _WORD.finditer(line.plain):
            space, letters = map(cell_len, word.groups())
            if used and used + space + letters > width:
                cuts.append(word.start(2))
                used = letters
            else:
                used += space + letters
        for part in line.divide(cuts):
            part.rstrip()
            yield part


def print_failure(error: Exception) -> None:
    """Print an error; for an ambiguous name, also its possible meanings, one per line."""
    candidates = error.candidates if isinstance(error, DocumentNotFound) else ()
    print_error(error.args[0] if candidates else str(error))
    for candidate in candidates:
        print_text(f"    {one_line(candidate)}", stderr=True)


def print_error(message: str) -> None:
    """Print a line on the error stream, capitalized unless it starts with a name."""
    line = one_line(message)
    if re.match(r"[a-z]+ ", line):
        line = line[0].upper() + line[1:]
    print_text(("error: ", "bold red"), line, stderr=True)


def print_progress(message: str) -> None:
    """Print a line on the error stream that says what the command is doing."""
    print_text((one_line(message), "dim"), stderr=True)


def print_rows(rows: Iterable[tuple[str, str]], wrap: bool = False) -> None:
    """Print a line for each name and value, with the values in one column; with `wrap`, long values are wrapped."""
    named = list(rows)
    width = max(len(name) for name, _ in named)
    for name, value in named:
        print_text((f"{name:<{width}}", "bold"), "  ", one_line(value), wrap=wrap)


def print_json(value: Any) -> None:
    """Print JSON, and escape everything that a terminal would interpret."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    text = json.dumps(value, ensure_ascii=not is_unicode, indent=2, default=str)
    sys.stdout.write(_UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    # Flush, so that a closed pipe raises an error here, not when Python ends.
    sys.stdout.flush()


def print_outcome(as_json: bool, plain: Any, said: str) -> None:
    """Print what a command did: as JSON for programs, or in one or more lines for people."""
    if as_json:
        print_json(plain)
    else:
        typer.echo(said)
