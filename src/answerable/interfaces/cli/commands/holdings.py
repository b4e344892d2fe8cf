"""The commands that show, remove and copy what a library holds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from answerable.interfaces.cli import render, reports
from answerable.interfaces.cli.options import DocumentArgument, JsonOption, LibraryOption, RemovedArgument, open_library
from answerable.settings import load_settings
from answerable.wiring.build import copy_library

if TYPE_CHECKING:
    from answerable.maintenance.copy import CopyReport


def list_documents(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """List the documents of the library."""
    with open_library(library) as opened:
        render.documents(opened.documents(), as_json)


def show(document: DocumentArgument, library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Show a document with its text."""
    with open_library(library) as opened:
        found = opened.document(opened.resolve(document))
        render.document(found, opened.chunks(found.id), as_json)


def remove(document: RemovedArgument, library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Remove every trace of a document from the library, or of all that came with an origin. The files stay.

    A folder, file or site that was added isn't followed any more. A document of one that is followed comes back with
    the next sync, as long as it is there.
    """
    with open_library(library) as opened:
        origins = opened.origins()
        called = [origin for origin in origins if origin.is_called(document)]
        if not called:
            found = opened.document(opened.resolve(document))
            # A file that was added by itself is meant by its name as by its path; an id means the document alone.
            called = [origin for origin in origins if origin.name == found.source and not found.id.startswith(document)]
        if called:
            reports.left(called[0].name, opened.unfollow(called[0].name), as_json)
            return
        opened.remove(found.id)
    render.removed(found, as_json)


def copy(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="The library to copy: a folder, postgresql://… or qdrant+http://….")
    ],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where to: a folder, postgresql://… or qdrant+http://….")],
    as_json: JsonOption = False,
) -> None:
    """Copy a library to another place, without embedding again. What is there already is left as it is.

    An interrupted copy is finished by the same command.
    """
    from answerable.interfaces.cli.printing import print_json

    shows = sys.stderr.isatty() and not as_json

    def show(now: CopyReport) -> None:
        typer.echo(f"\r{now.copied + now.unchanged} of {now.documents} documents ", nl=False, err=True)

    done = copy_library(source, target, show if shows else None, load_settings().qdrant_api_key)
    if shows and done.copied:
        typer.echo(err=True)
    if as_json:
        print_json({"copied": done.copied, "unchanged": done.unchanged, "chunks": done.chunks})
    else:
        typer.echo(
            f"copied {done.copied:,} documents ({done.chunks:,} passages), {done.unchanged:,} were there already"
        )
