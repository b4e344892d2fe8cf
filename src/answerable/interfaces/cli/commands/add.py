"""`answerable add`: fill a library."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Optional

import typer
from typer import Argument, Option

from answerable.errors import LibraryNotFound, SourceError
from answerable.interfaces.cli.options import AllowHostOption, JsonOption, LibraryOption, PasswordOption, Text, Texts
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
        Optional[bool], Option("--everything", help="Sites: include blogs, tags and other listings.")
    ] = None
    max_pages: Annotated[Optional[int], Option(metavar="NUMBER", help="Maximum pages per site.")] = None
    site_public_url: Annotated[
        Text, Option("--public-url", metavar="URL", help="Cite pages of a site's copy by this public address.")
    ] = None
    allow_hosts: AllowHostOption = None
    workers: Annotated[
        Optional[int], Option(metavar="N", help="Read and embed with N processes (with --ray: N workers).")
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
        Argument(
            help="Files, folders, sites (https://…), or postgresql://…?langchain_collection=NAME with its vectors.",
            metavar="PATH",
        ),
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
    from answerable.wiring.build import import_collection, without_password

    settings = read.settings(library)
    total = AddReport()
    with add_progress(enabled=not as_json) as progress:
        # Collections come first: their vectors decide the library's embedder.
        for path in filter(_is_collection, paths):
            try:
                total.merge(import_collection(path, settings, progress, dry_run))
            except SourceError as error:
                total.merge(AddReport(failures=[Failure(without_password(path), error)]))
        if files := [path for path in paths if not _is_collection(path)]:
            with _open_to_add(settings, dry_run) as opened:
                for path in files:
                    try:
                        report = opened.add(path, on_progress=progress, dry_run=dry_run)
                    except SourceError as error:
                        report = AddReport(failures=[Failure(path, error)])
                    total.merge(report)
    reports.print_added(total, dry_run, as_json)
    if total.failures:
        raise typer.Exit(1)


def _is_collection(path: str) -> bool:
    return path.startswith("postgres") and "langchain_collection=" in path


def _open_to_add(settings: Settings, dry_run: bool) -> Library:
    from answerable.wiring.build import MEMORY, build_library

    try:
        return build_library(settings, create=not dry_run)
    except LibraryNotFound:
        return build_library(replace(settings, library=MEMORY))
