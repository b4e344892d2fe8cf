"""The command `answerable`. Exit status:

0  success; for `ask`, an answer or a refusal
1  a file, folder or site failed, and the others were added. For `eval`, a floor was missed; for `verify`, something
   differs
2  wrong usage or settings, or the library or document doesn't exist or can't be used
130  interrupted (Ctrl-C): what was read is kept, and the same command does the rest
"""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from answerable.disk.files import FULL
from answerable.errors import AnswerableError
from answerable.interfaces.cli.options import COMPLETING, examples, unfold
from answerable.interfaces.cli.printing import CleanFormatter, is_for_users, print_error, print_failure

_MODULES = {
    "demo": "ask",
    **dict.fromkeys(("add", "sync"), "add_and_sync"),
    **dict.fromkeys(("ask", "chat", "search", "places"), "ask"),
    **dict.fromkeys(("list", "sources", "show", "table", "remove"), "documents"),
    "model": "model",
    **dict.fromkeys(("copy", "export", "import", "reindex", "verify"), "maintain"),
    **dict.fromkeys(("doctor", "plugins"), "doctor"),
    "calibrate": "calibrate",
    "eval": "eval",
    **dict.fromkeys(("serve", "mcp", "keys"), "serve"),
}
"""The module in `commands/` of each command: a function, or a group of commands, of the same name but for these."""
_FUNCTIONS = {"list": "list_documents", "import": "import_", "eval": "evaluate"}
INTERRUPTED = 130  # the status that shells use for SIGINT: 128 + 2


class Commands(TyperGroup):
    """The group of all commands, which reports every error as a line on the error stream and an exit status.

    A command's module is imported when it is needed: importing all of them takes longer than listing documents.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = cast(Any, dict.fromkeys(_MODULES))

    def get_command(self, context: Any, name: str) -> Any:
        """Return a command by its name; None if there is none."""
        if name in _MODULES and self.commands[name] is None:
            self.commands[name] = _load(name)
        return self.commands.get(name)

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        """Run the command named by the arguments, print any error, and exit."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # Print ? for characters the terminal can't show.
                stream.reconfigure(errors="replace")
        if logging.lastResort:
            logging.lastResort.setFormatter(CleanFormatter())
            logging.lastResort.addFilter(is_for_users)
        status = 2
        if os.environ.get(COMPLETING):
            _complete(super().main, arguments, options)
        try:
            status = super().main(*arguments, **{**options, "standalone_mode": False}) or 0
            sys.stdout.flush()
        except (AnswerableError, ValueError) as error:
            print_failure(error)
        except typer.TyperException as error:
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "answerable"
            print_error(f"{error.format_message().rstrip('.')}. See {command} --help.")
        except OSError as error:
            remedy = "Free some space" if error.errno in FULL else "Check the disk and the permissions"
            print_error(f"{error}. {remedy}, then try again.")
        except Exception as error:
            if os.environ.get("ANSWERABLE_TRACEBACK"):
                raise
            print_error(
                f"Unexpected error ({type(error).__name__}: {error}). "
                "Set ANSWERABLE_TRACEBACK=1, run it again, and report the output."
            )
        if status == INTERRUPTED:
            print_error("Interrupted. What was finished is kept; run it again to go on.")
        sys.exit(status)


def _complete(main: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> NoReturn:
    """Answer a shell that completes a command. Print no errors, which would appear in the line being typed."""
    try:
        main(*arguments, **options)
    except SystemExit as ended:
        sys.exit(ended.code)
    except Exception:
        sys.exit(1)
    sys.exit(0)


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
    """Ask your own documents. Every answer quotes its exact source, or reports that the documents don't answer."""
    if version:
        from answerable import __version__

        typer.echo(f"answerable {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _load(name: str) -> Any:
    module = import_module(f"answerable.interfaces.cli.commands.{_MODULES[name]}")
    found = getattr(module, _FUNCTIONS.get(name, name))
    if not isinstance(found, typer.Typer):
        command, found = found, typer.Typer(add_completion=False, rich_markup_mode=None)
        found.command(name, epilog=examples(name))(unfold(command))
    loaded = get_command(found)
    loaded.name = name
    return loaded


def run() -> None:
    """Run `answerable`."""
    app(prog_name="answerable")
