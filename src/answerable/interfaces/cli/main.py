"""The command `answerable`: parses, calls the library, prints. Exit status:

0  done; for `ask`, an answer or a plain refusal
1  a file couldn't be added, or a folder or site not be visited; the others are in. For `eval`, a floor isn't reached;
   for `verify`, something differs
2  the call or a setting makes no sense, there is no such library or document, or it can't be used
130  interrupted (Ctrl-C): what was finished is kept, what was under way isn't there
"""

from __future__ import annotations

import io
import logging
import os
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from answerable.errors import AnswerableError
from answerable.interfaces.cli import render
from answerable.interfaces.cli.commands.adding import add
from answerable.interfaces.cli.commands.asking import ask, chat, search
from answerable.interfaces.cli.commands.backup import export, import_
from answerable.interfaces.cli.commands.holdings import copy, list_documents, remove, show
from answerable.interfaces.cli.commands.keys import keys
from answerable.interfaces.cli.commands.measuring import evaluate
from answerable.interfaces.cli.commands.reindexing import reindex
from answerable.interfaces.cli.commands.serving import mcp, serve
from answerable.interfaces.cli.commands.syncing import sources, sync
from answerable.interfaces.cli.commands.upkeep import calibrate, doctor
from answerable.interfaces.cli.commands.verifying import verify
from answerable.interfaces.cli.printing import CleanFormatter

INTERRUPTED = 130


class Commands(TyperGroup):
    """The commands; whatever goes wrong in one ends in a line on the error stream and an exit status."""

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        """Runs a command and ends the process."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A terminal that can't show a letter shows a question mark.
                stream.reconfigure(errors="replace")
        if logging.lastResort:
            logging.lastResort.setFormatter(CleanFormatter())
        status = 2
        try:
            status = super().main(*arguments, **{**options, "standalone_mode": False}) or 0
            sys.stdout.flush()
        except (AnswerableError, ValueError) as error:
            render.error(str(error))
        except typer.TyperException as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "answerable"
            render.error(f"{error.format_message().rstrip('.')}. See {command} --help.")
        except OSError as error:
            render.error(f"{error}. Check the disk and the permissions, then try again.")
        except Exception as error:
            if os.environ.get("ANSWERABLE_TRACEBACK"):
                raise
            render.error(
                f"This shouldn't happen ({type(error).__name__}: {error}). "
                "Set ANSWERABLE_TRACEBACK=1, run it again, and report what it prints."
            )
        if status == INTERRUPTED:
            render.error("Interrupted. What was finished is kept; run the same again for the rest.")
        sys.exit(status)


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Ask your own documents: every answer quotes the exact place it comes from, or says that they don't say."""
    if version:
        from answerable import __version__

        typer.echo(f"answerable {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(add)
app.command()(sync)
app.command()(ask)
app.command()(chat)
app.command()(search)
app.command("list")(list_documents)
app.command()(sources)
app.command()(show)
app.command()(remove)
app.command()(copy)
app.command()(export)
app.command("import")(import_)
app.command()(reindex)
app.command()(verify)
app.command()(doctor)
app.command()(calibrate)
app.command("eval")(evaluate)
app.command()(serve)
app.command()(mcp)
app.add_typer(keys, name="keys")


def run() -> None:
    """The command's entry point."""
    app(prog_name="answerable")
