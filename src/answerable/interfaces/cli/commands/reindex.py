"""`answerable reindex`: change a library's embedder."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from answerable.errors import SettingsError
from answerable.interfaces.cli.options import JsonOption, LibraryOption, Text
from answerable.interfaces.cli.printing import print_json
from answerable.settings import Settings, load_settings

if TYPE_CHECKING:
    from answerable.maintenance.reindex import ReindexReport


def reindex(
    embedder: Annotated[
        Text,
        Option(metavar="NAME", help="The new embedder: local, onnx:FOLDER, openai:NAME, ollama:NAME, cohere:NAME."),
    ] = None,
    library: LibraryOption = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Show time and cost; change nothing.")] = False,
    abandon: Annotated[bool, Option("--abandon", help="Delete the vectors of an unfinished reindex.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Embed the whole library again with another embedder. The old vectors answer until it is done.

    Documents added or removed meanwhile are included. Run the same command again to finish an interrupted reindex.
    Afterwards restart programs that have the library open, such as answerable serve, with the new setting.
    """
    from answerable.interfaces.cli.progress import count_progress
    from answerable.wiring.whole_library import abandon_reindex, reindex_library

    settings = load_settings({"library": library, "embedder": embedder})
    if abandon:
        begun = abandon_reindex(settings)
        if as_json:
            print_json({"abandoned": str(begun) if begun else None})
        else:
            typer.echo(f"deleted the vectors of {begun}" if begun else "there is no unfinished reindex")
        return
    if embedder is None:
        raise SettingsError("Name the new embedder: answerable reindex --embedder NAME")
    with count_progress("passages", enabled=not (as_json or dry_run)) as count:
        done = reindex_library(settings, dry_run, lambda now: count(now.done, now.chunks))
    if as_json:
        print_json({**asdict(done), "embedder": settings.embedder})
    else:
        typer.echo(_estimated(done) if dry_run else _switched(done, settings))


def _estimated(found: ReindexReport) -> str:
    if found.before in (None, found.after):
        return f"the library already uses {found.after}: nothing to do"
    cost = "at an unknown price" if found.cost is None else f"for ${found.cost:,.2f}"
    time = f", about {found.estimated_seconds:,.0f} s" if found.estimated_seconds else ""
    left = f"{found.chunks - found.done:,} of {found.chunks:,} passages ({found.tokens:,} tokens)"
    return f"would embed {left} with {found.after} {cost}{time}, replacing {found.before}"


def _switched(done: ReindexReport, settings: Settings) -> str:
    if done.before == done.after:
        return f"the library already uses {done.after}: nothing to do"
    dimension = settings.embedding_dimension
    own = f" and embedding_dimension = {dimension}" if dimension else ""
    return (
        f"{done.chunks:,} passages now have vectors of {done.after}\n"
        f'From now on use embedder = "{settings.embedder}"{own} in answerable.toml, '
        f"or ANSWERABLE_EMBEDDER={settings.embedder}"
    )
