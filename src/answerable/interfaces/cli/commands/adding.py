"""The command that fills a library."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Optional

import typer

from answerable.errors import LibraryNotFound, SourceError
from answerable.indexing.ingest import AddReport, Failure
from answerable.interfaces.cli import reports
from answerable.interfaces.cli.options import JsonOption, LibraryOption
from answerable.library import Library
from answerable.settings import Settings, load_settings
from answerable.wiring.build import MEMORY, build_library, import_collection, without_password


def add(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders, sites (https://…), or postgresql://…?langchain_collection=NAME with its vectors.",
            metavar="PATH",
        ),
    ],
    library: LibraryOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be added; change nothing.")] = False,
    password: Annotated[Optional[str], typer.Option(metavar="TEXT", help="Opens encrypted PDFs.")] = None,
    ocr: Annotated[
        Optional[str], typer.Option(metavar="LANGUAGES", help="What scanned PDFs are in, for tesseract: eng+spa.")
    ] = None,
    locale: Annotated[
        Optional[list[str]], typer.Option(metavar="CODE", help="Of a site, only these languages, as es (repeatable).")
    ] = None,
    docs_version: Annotated[
        Optional[list[str]],
        typer.Option(metavar="NAME", help="Of a site, these versions, or all (repeatable; default: the latest)."),
    ] = None,
    everything: Annotated[
        Optional[bool], typer.Option("--everything", help="Of a site, also blogs, tags and other listings.")
    ] = None,
    max_pages: Annotated[
        Optional[int], typer.Option(metavar="NUMBER", help="Of a site, at most so many pages.")
    ] = None,
    public_url: Annotated[
        Optional[str], typer.Option(metavar="URL", help="What a copy of a site is cited by, where that can't be told.")
    ] = None,
    allow_host: Annotated[
        Optional[list[str]],
        typer.Option(metavar="HOST", help="Fetch from this private host too, as 127.0.0.1:3000 (repeatable)."),
    ] = None,
    workers: Annotated[
        Optional[int], typer.Option(metavar="N", help="Read and embed with N processes (with --ray: N workers there).")
    ] = None,
    ray: Annotated[
        Optional[str],
        typer.Option(metavar="HOST:PORT", help="Read and embed on the Ray cluster that this machine is a node of."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Add chats, PDFs, Markdown, HTML and text files, folders of them, and sites. What is there already stays as it is.

    They are followed from now on: added again, or with `answerable sync`, changed files and pages take the place of
    the old ones, and those that are gone are removed. A folder or a site that isn't there as a whole loses nothing.
    """
    from answerable.interfaces.cli.progress import add_progress

    settings = load_settings(
        {
            "library": library,
            "pdf_password": password,
            "ocr_languages": ocr,
            "site_locales": _joined(locale),
            "site_versions": _joined(docs_version),
            "site_everything": everything,
            "site_public_url": public_url,
            "max_pages": max_pages,
            "allow_hosts": _joined(allow_host),
            "workers": workers,
            "ray": ray,
        }
    )
    total = AddReport()
    with add_progress(enabled=not as_json) as progress:
        # Collections come first: their vectors say which embedder the library is of.
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
    reports.added(total, dry_run, as_json)
    if total.failures:
        raise typer.Exit(1)


def _joined(given: list[str] | None) -> str | None:
    return ",".join(given) if given else None


def _is_collection(path: str) -> bool:
    return path.startswith("postgres") and "langchain_collection=" in path


def _open_to_add(settings: Settings, dry_run: bool) -> Library:
    if not dry_run:
        return build_library(settings)
    try:
        return build_library(settings, create=False)
    except LibraryNotFound:
        return build_library(replace(settings, library=MEMORY))
