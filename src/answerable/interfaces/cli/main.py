"""The command `answerable`: parses, calls the library, prints. Exit status:

0  done; for `ask`, an answer or a plain refusal
1  a file couldn't be added; the others are in
2  the call or a setting makes no sense, there is no such library or document, or it can't be used
130  interrupted (Ctrl-C): what was finished is kept, what was under way isn't there
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Optional

import typer
from typer.core import TyperGroup

from answerable.build import MEMORY, build_library, copy_library, import_collection, without_password
from answerable.datatypes import DocumentType
from answerable.errors import AnswerableError, LibraryNotFound, SourceError
from answerable.ingestion import AddReport, Failure
from answerable.interfaces.cli import render
from answerable.interfaces.cli.filters import build_filter, comes_from
from answerable.library import Library
from answerable.settings import Settings, load_settings

if TYPE_CHECKING:
    from answerable.stores.copying import CopyReport

INTERRUPTED = 130


class Commands(TyperGroup):
    """The commands; whatever goes wrong in one ends in a line on the error stream and an exit status."""

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        """Runs a command and ends the process."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A terminal that can't show a letter shows a question mark.
                stream.reconfigure(errors="replace")
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

LibraryOption = Annotated[
    Optional[str],
    typer.Option(
        "--library", "-l", metavar="ADDRESS", help="A folder, or postgresql://… (default: a folder among your data)."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SenderOption = Annotated[
    Optional[list[str]], typer.Option("--from", metavar="NAME", help="Only what this person wrote (repeatable).")
]
SinceOption = Annotated[Optional[str], typer.Option(metavar="DAY", help="Only from this day on, as 2024-03-01.")]
UntilOption = Annotated[Optional[str], typer.Option(metavar="DAY", help="Only up to this day, as 2024-03-31.")]
TypeOption = Annotated[
    Optional[list[DocumentType]],
    typer.Option("--type", metavar="TYPE", help=f"Only {', '.join(DocumentType)} (repeatable)."),
]
SourceOption = Annotated[
    Optional[list[str]], typer.Option(metavar="PATH", help="Only this file, archive, folder or site (repeatable).")
]
LanguageOption = Annotated[Optional[str], typer.Option(metavar="CODE", help="Only documents in this language, as es.")]
WhereOption = Annotated[Optional[str], typer.Option(metavar="JSON", help='A filter: {"page": {"gte": 3}}.')]
ModelOption = Annotated[
    Optional[str],
    typer.Option(
        "--model", "-m", metavar="MODEL", help="What answers: extractive, openai:NAME, ollama:NAME, cohere:NAME."
    ),
]
DocumentArgument = Annotated[
    str, typer.Argument(metavar="DOCUMENT", help="Its id, the beginning of its id, or its path.")
]


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


@app.command()
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
    as_json: JsonOption = False,
) -> None:
    """Add chats, PDFs, Markdown, HTML and text files, folders of them, and sites. What is there already stays as it is.

    A site that is added again is brought up to date: changed pages take the place of the old ones, and pages that its
    sitemap doesn't name any more are removed, if all of it could be read.
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
    render.added(total, dry_run, as_json)
    if total.failures:
        raise typer.Exit(1)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    library: LibraryOption = None,
    model: ModelOption = None,
    sender: SenderOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    kind: TypeOption = None,
    source: SourceOption = None,
    language: LanguageOption = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question from the documents, every sentence with its source. Where they don't say, the answer says so.

    Without a model the answer is quotes. What a model writes is checked against the passages that it was given.
    """
    from answerable.interfaces.cli.streaming import follow

    with _open(library, model) as opened:
        filters = build_filter(opened, sender, since, until, kind, source, language, where)
        answer = opened.ask(question, filters) if as_json else follow(opened.ask_stream(question, filters), question)
    render.answer(answer, as_json)


@app.command()
def chat(library: LibraryOption = None, model: ModelOption = None) -> None:
    """Ask question after question. One that follows up ("and on Sunday?") is searched for with the words it leaves out.

    /sources, /why and /filter show and change what an answer rests on, /help says how; exit ends it. Questions may
    come through a pipe, one a line.
    """
    from answerable.interfaces.cli.chat import Chat

    Chat(lambda: _open(library, model)).run()


@app.command()
def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to look for.")],
    library: LibraryOption = None,
    k: Annotated[int, typer.Option("-k", metavar="NUMBER", min=1, max=1000, help="How many passages.")] = 10,
    sender: SenderOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    kind: TypeOption = None,
    source: SourceOption = None,
    language: LanguageOption = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the passages that have most to say on a question."""
    with _open(library) as opened:
        filters = build_filter(opened, sender, since, until, kind, source, language, where)
        results = opened.search(question, k, filters)
        narrowing = opened.narrowing(question, filters)
    render.results(results, narrowing, as_json)


@app.command("list")
def list_documents(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """List the documents of the library."""
    with _open(library) as opened:
        render.documents(opened.documents(), as_json)


@app.command()
def show(document: DocumentArgument, library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Show a document with its text."""
    with _open(library) as opened:
        found = opened.document(_document_id(opened, document))
        render.document(found, opened.chunks(found.id), as_json)


@app.command()
def remove(document: DocumentArgument, library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Remove every trace of a document from the library. The file itself stays."""
    with _open(library) as opened:
        found = opened.document(_document_id(opened, document))
        opened.remove(found.id)
    render.removed(found, as_json)


@app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The library to copy: a folder or postgresql://….")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where to: a folder or postgresql://….")],
    as_json: JsonOption = False,
) -> None:
    """Copy a library to another place, without embedding again. What is there already is left as it is.

    An interrupted copy is finished by the same command.
    """
    from answerable.interfaces.cli.printing import print_json

    shows = sys.stderr.isatty() and not as_json

    def show(now: CopyReport) -> None:
        typer.echo(f"\r{now.copied + now.unchanged} of {now.documents} documents ", nl=False, err=True)

    done = copy_library(source, target, show if shows else None)
    if shows and done.copied:
        typer.echo(err=True)
    if as_json:
        print_json({"copied": done.copied, "unchanged": done.unchanged, "chunks": done.chunks})
    else:
        typer.echo(
            f"copied {done.copied:,} documents ({done.chunks:,} passages), {done.unchanged:,} were there already"
        )


@app.command()
def doctor(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Show what runs here. Versions, the embedder's runtime and speed, the library, and settings that were changed."""
    from answerable.interfaces.cli.doctor import diagnose

    render.diagnosis(diagnose(load_settings({"library": library})), as_json)


@app.command()
def calibrate(
    sets: Annotated[list[str], typer.Argument(metavar="FOLDER", help="Question sets in BEIR's layout.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the figures; keep nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Fit to your embedder what decides on refusals. Half of the sets' articles are fitted on, the others measured.

    A set is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv. Two or more on different subjects are best:
    the questions of one are asked of the others too. The local embedder comes fitted.
    """
    from answerable.interfaces.cli.calibrate import Calibrating

    calibrating = Calibrating(load_settings(), [Path(folder) for folder in sets])
    found = calibrating.run()
    render.calibration(found, "" if dry_run else calibrating.keep(found.gate), as_json)


def run() -> None:
    """The command's entry point."""
    app(prog_name="answerable")


def _open(address: str | None, model: str | None = None) -> Library:
    try:
        return build_library(load_settings({"library": address, "model": model}), create=False)
    except LibraryNotFound as error:
        if address is None:
            raise
        raise LibraryNotFound(f"{error} --library {shlex.quote(without_password(address))}") from error


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


def _document_id(library: Library, name: str) -> str:
    found = [document.id for document in library.documents() if comes_from(document.source, name)]
    return found[0] if len(found) == 1 else library.resolve(name)
