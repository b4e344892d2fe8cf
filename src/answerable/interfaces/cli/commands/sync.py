"""`answerable sync`: bring the library up to date with its files and sites."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

import typer
from typer import Argument, Option

from answerable.errors import SettingsError
from answerable.interfaces.cli.options import (
    AllowHostOption,
    ChecksumOption,
    JsonOption,
    LibraryOption,
    PasswordOption,
    Texts,
    open_library,
)
from answerable.settings import load_settings

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Whether to keep syncing, and how often."""

    watch: Annotated[bool, Option("--watch", help="Sync again at every change, until Ctrl-C.")] = False
    every: Annotated[str, Option(metavar="TIME", help="With --watch, sync everything this often: 30m, 6h or 2d.")] = (
        "1d"
    )

    def seconds(self) -> int:
        """The value of `every` in seconds. Raise SettingsError."""
        found = re.fullmatch(r"([1-9]\d{0,5})([smhd])", self.every)
        if found is None:
            raise SettingsError(
                f"--every is {self.every!r}; it must be a number of seconds, minutes, hours or days, such as 6h."
            )
        return int(found[1]) * _SECONDS[found[2]]


def sync(
    watching: WatchOptions,
    origins: Annotated[
        Texts, Argument(help="Folders, files and sites that were added (default: all).", metavar="ORIGIN")
    ] = None,
    library: LibraryOption = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would be done; change nothing.")] = False,
    checksum: ChecksumOption = False,
    allow_host: AllowHostOption = None,
    password: PasswordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring the library up to date. Changed files and pages replace the old ones, deleted ones are removed.

    Moved files keep their vectors. If a whole folder, disk or site is unreachable, its documents stay. Options given to
    add apply here too, except hosts and passwords.
    """
    from answerable.interfaces.cli import reports
    from answerable.interfaces.cli.progress import add_progress

    seconds = watching.seconds()
    if watching.watch and dry_run:
        raise SettingsError("--watch and --dry-run can't be combined: leave out one of them.")
    hosts = ",".join(allow_host) if allow_host else None
    with open_library(library, allow_hosts=hosts, pdf_password=password) as opened:
        if watching.watch:
            from answerable.interfaces.cli.commands.watch import Watch

            address = load_settings({"library": library}).library_address
            Watch(opened, origins or [], address, seconds, checksum, as_json).run()
            return
        with add_progress(enabled=not as_json) as progress:
            report = opened.sync(origins or [], progress, dry_run, checksum)
    reports.print_synced(report, dry_run, as_json)
    if report.total.failures:
        raise typer.Exit(1)
