"""`answerable add` and `sync`: fill a library, and bring it up to date with its files and sites."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from answerable.errors import LibraryNotFound, SettingsError, SourceError
from answerable.interfaces.cli.options import (
    AllowHostOption,
    ChecksumOption,
    JsonOption,
    LibraryOption,
    PasswordOption,
    Text,
    Texts,
    open_library,
)
from answerable.settings import Settings, load_settings

if TYPE_CHECKING:
    from answerable.library import Library


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read and which pages of a site are fetched."""

    pdf_password: PasswordOption = None
    ocr_languages: Annotated[
        Text, Option("--ocr", metavar="LANGUAGES", help="Languages of pictures and scans, for tesseract: eng+spa.")
    ] = None
    site_locales: Annotated[
        Texts, Option("--locale", metavar="CODE", help="Sites: only this language, such as es (repeatable).")
    ] = None
    site_versions: Annotated[
        Texts,
        Option("--docs-version", metavar="NAME", help="Sites: this version or all (repeatable; default: the latest)."),
    ] = None
    site_everything: Annotated[
        bool | None, Option("--everything", help="Sites: include blogs, tags and other listings.")
    ] = None
    max_pages: Annotated[int | None, Option(metavar="NUMBER", help="Maximum pages per site.")] = None
    site_public_url: Annotated[
        Text, Option("--public-url", metavar="URL", help="Cite pages of a site's copy by this public address.")
    ] = None
    allow_hosts: AllowHostOption = None
    workers: Annotated[
        int | None, Option(metavar="N", help="Read and embed with N processes (with --ray: N workers).")
    ] = None
    ray: Annotated[Text, Option(metavar="HOST:PORT", help="Read and embed on the Ray cluster this machine is in.")] = (
        None
    )

    def settings(self, library: str | None) -> Settings:
        """Return the settings with these options applied; each option overrides the setting of its name."""
        given = {name: ",".join(value) if isinstance(value, list) else value for name, value in asdict(self).items()}
        return load_settings({"library": library, **given})


def add(
    paths: Annotated[
        list[str],
        Argument(help="Files, folders and sites (https://…).", metavar="PATH"),
    ],
    read: ReadOptions,
    library: LibraryOption = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would be added; change nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Add chats, PDFs, Markdown, HTML and text files, whole folders, and sites.

    The library follows what you add: `answerable sync`, or adding it again, replaces changed files and pages and
    removes deleted ones. If a whole folder or site is unreachable, its documents stay.
    """
    from answerable.indexing.ingest import AddReport, Failure
    from answerable.interfaces.cli import reports
    from answerable.interfaces.cli.progress import add_progress

    settings = read.settings(library)
    total = AddReport()
    with add_progress(enabled=not as_json) as progress, _open_to_add(settings, dry_run) as opened:
        for path in paths:
            try:
                report = opened.add(path, on_progress=progress, dry_run=dry_run, with_vectors=False)
            except SourceError as error:
                report = AddReport(failures=[Failure(path, error)])
            total.merge(report)
        if not dry_run:
            total.merge(opened.make_vectors(progress))
    reports.print_added(total, dry_run, as_json)
    if total.failures:
        raise typer.Exit(1)


def _open_to_add(settings: Settings, dry_run: bool) -> Library:
    from answerable.wiring.build import build_library
    from answerable.wiring.stores import MEMORY

    try:
        return build_library(settings, create=not dry_run)
    except LibraryNotFound:
        return build_library(replace(settings, library=MEMORY))


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
