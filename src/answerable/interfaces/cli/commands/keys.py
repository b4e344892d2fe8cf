"""`answerable keys …`: make, list and remove the keys of a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from answerable.interfaces.cli.examples import examples
from answerable.interfaces.cli.options import JsonOption, Text
from answerable.interfaces.cli.printing import one_line, print_json, print_text
from answerable.interfaces.http.access.key_file import Keys, Role

keys = typer.Typer(rich_markup_mode=None)

FileArgument = Annotated[Path, Argument(metavar="FILE", help="The key file of answerable serve --keys.")]


@keys.callback()
def start() -> None:
    """Make, list and remove the keys of `answerable serve`."""


@keys.command(epilog=examples("keys add"))
def add(
    file: FileArgument,
    role: Annotated[Role, Option(help="ask may ask, search and read; admin may also add and remove.")],
    library: Annotated[Text, Option(metavar="NAME", help="The only library it opens (default: all).")] = None,
    name: Annotated[str, Option(metavar="WHO", help="A note on whose key it is.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a key and show it once: the file keeps only its hash. A running server accepts it at once."""
    key, secret = Keys(file).add(role, library, name)
    if as_json:
        print_json({"id": key.id, "key": secret})
    else:
        typer.echo(secret)
        typer.echo(f"Save it now: it is not shown again. Its id is {key.id}.", err=True)


@keys.command("list", epilog=examples("keys list"))
def list_keys(file: FileArgument, as_json: JsonOption = False) -> None:
    """List the keys without their secrets."""
    found = Keys(file).list()
    if as_json:
        fields = ("id", "role", "library", "name", "made")
        print_json({"keys": [{field: getattr(key, field) for field in fields} for key in found]})
    for key in () if as_json else found:
        about = (key.role, key.library or "all libraries", key.made, key.name)
        print_text((key.id, "cyan"), "  ", one_line(", ".join(filter(None, about))))


@keys.command(epilog=examples("keys remove"))
def remove(
    file: FileArgument,
    key: Annotated[str, Argument(metavar="ID", help="The id shown by answerable keys list.")],
    as_json: JsonOption = False,
) -> None:
    """Remove a key. A running server refuses it from the next request on."""
    removed = Keys(file).remove(key)
    if as_json:
        print_json({"removed": removed.id})
    else:
        print_text(f"removed {removed.id}", f" ({one_line(removed.name)})" if removed.name else "")
