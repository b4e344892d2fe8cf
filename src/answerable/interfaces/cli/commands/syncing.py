"""The commands that look after what a library follows: folders, files and sites."""

from __future__ import annotations

import re
from typing import Annotated, Optional

import typer

from answerable.errors import SettingsError
from answerable.interfaces.cli import reports
from answerable.interfaces.cli.options import JsonOption, LibraryOption, open_library
from answerable.settings import load_settings

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def sync(
    origins: Annotated[
        Optional[list[str]],
        typer.Argument(help="Folders, files and sites that were added (default: all).", metavar="ORIGIN"),
    ] = None,
    library: LibraryOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done; change nothing.")] = False,
    checksum: Annotated[
        bool, typer.Option("--checksum", help="Read every file, whatever its size and time say.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on, whenever a file changes, until Ctrl-C.")] = False,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="With --watch, how often everything is visited, as 30m, 6h or 2d.")
    ] = "1d",
    allow_host: Annotated[
        Optional[list[str]],
        typer.Option(metavar="HOST", help="Fetch from this private host, as 127.0.0.1:3000 (repeatable)."),
    ] = None,
    password: Annotated[Optional[str], typer.Option(metavar="TEXT", help="Opens encrypted PDFs.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Bring up to date what was added. Changed files and pages take the place of the old ones.

    What has moved keeps its vectors, and what is gone is removed; a folder, disk or site that as a whole isn't there
    loses nothing. Options that were given to add hold here too, but hosts and passwords.
    """
    from answerable.interfaces.cli.progress import add_progress

    seconds = _seconds(every)
    if watch and dry_run:
        raise SettingsError("--watch and --dry-run don't go together: leave out one of them.")
    hosts = ",".join(allow_host) if allow_host else None
    with open_library(library, allow_hosts=hosts, pdf_password=password) as opened:
        if watch:
            from answerable.interfaces.cli.commands.watching import Watch

            address = load_settings({"library": library}).library_address
            Watch(opened, origins or [], address, seconds, checksum, as_json).run()
            return
        with add_progress(enabled=not as_json) as progress:
            report = opened.sync(origins or [], progress, dry_run, checksum)
    reports.synced(report, dry_run, as_json)
    if report.total.failures:
        raise typer.Exit(1)


def sources(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """List what the library follows: folders, files and sites, each with its documents and its last visit."""
    with open_library(library) as opened:
        reports.origins(opened.origins(), as_json)


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([1-9]\d{0,5})([smhd])", text)
    if found is None:
        raise SettingsError(f"--every is {text!r}; it must be a number of seconds, minutes, hours or days, as 6h.")
    return int(found[1]) * _SECONDS[found[2]]
