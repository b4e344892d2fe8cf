"""The command `answerable`: parses, calls the library, prints. Exit status:

0  done; for `ask`, an answer or a plain refusal
1  a file couldn't be added; the others are in
2  nothing was done: the call or a setting makes no sense, there is no such library or document, or it can't be used
130  interrupted (Ctrl-C): what was finished is kept, what was under way isn't there
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Optional, TypeVar

import typer

from answerable.build import build_library
from answerable.datatypes import DocumentType
from answerable.errors import AnswerableError
from answerable.ingestion import AddReport, Failure
from answerable.interfaces.cli import render
from answerable.interfaces.cli.progress import add_progress
from answerable.library import Library
from answerable.settings import Settings, load_settings
from answerable.sources.files import source_of

app = typer.Typer(
    help="Ask your own documents: every answer quotes the exact place it comes from, or says that they don't say.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

LibraryOption = Annotated[
    Optional[str],
    typer.Option("--library", "-l", help="The library's folder. [default: among your data]", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SenderOption = Annotated[Optional[list[str]], typer.Option("--from", help="Only what this person wrote (repeatable).")]
SinceOption = Annotated[Optional[str], typer.Option(help="Only from this day on, as 2024-03-01.")]
UntilOption = Annotated[Optional[str], typer.Option(help="Only up to this day, as 2024-03-31.")]
TypeOption = Annotated[
    Optional[list[DocumentType]], typer.Option("--type", help="Only documents of this type (repeatable).")
]
SourceOption = Annotated[Optional[list[str]], typer.Option(help="Only this file (repeatable).")]
LanguageOption = Annotated[Optional[str], typer.Option(help="Only documents in this language, as es.")]
WhereOption = Annotated[Optional[str], typer.Option(help='A filter as JSON: {"page": {"gte": 3}}.')]

Command = TypeVar("Command", bound=Callable[..., Any])


def _guarded(command: Command) -> Command:
    """Errors become one line and an exit status."""

    @wraps(command)
    def run_command(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except (AnswerableError, ValueError) as error:
            render.error(str(error))
            raise typer.Exit(2) from error

    return run_command  # type: ignore[return-value]


def _settings(library: str | None, **others: Any) -> Settings:
    return load_settings({"library": library, **others})


@app.command()
@_guarded
def add(
    paths: Annotated[list[str], typer.Argument(help="Files and folders.", metavar="PATH…")],
    library: LibraryOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be added; change nothing.")] = False,
    password: Annotated[Optional[str], typer.Option(help="Opens encrypted PDFs.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Add chats, PDFs, Markdown, HTML and text files. What is there already is left as it is."""
    settings = _settings(library, pdf_password=password)
    total = AddReport()
    with build_library(settings) as opened, add_progress(enabled=not as_json) as progress:
        for path in paths:
            try:
                report = opened.add(path, on_progress=progress, dry_run=dry_run)
            except AnswerableError as error:
                report = AddReport(failures=[Failure(path, error)])
            total.merge(report)
    render.added(total, dry_run, as_json)
    if total.failures:
        raise typer.Exit(1)


@app.command()
@_guarded
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    library: LibraryOption = None,
    sender: SenderOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    kind: TypeOption = None,
    source: SourceOption = None,
    language: LanguageOption = None,
    where: WhereOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question with quotes from the documents, or say that they don't say."""
    filters = _filters(sender, since, until, kind, source, language, where)
    with build_library(_settings(library), create=False) as opened:
        answer = opened.ask(question, filters)
    render.answer(answer, as_json)


@app.command()
@_guarded
def search(
    question: Annotated[str, typer.Argument(help="What to look for.")],
    library: LibraryOption = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many passages.")] = 10,
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
    filters = _filters(sender, since, until, kind, source, language, where)
    with build_library(_settings(library), create=False) as opened:
        results = opened.search(question, k, filters)
    render.results(results, as_json)


@app.command("list")
@_guarded
def list_documents(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """List the documents of the library."""
    with build_library(_settings(library), create=False) as opened:
        render.documents(opened.documents(), as_json)


@app.command()
@_guarded
def show(
    document: Annotated[str, typer.Argument(help="Its id, the beginning of its id, or its path.")],
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a document: where it comes from, how it was cut, and its text."""
    with build_library(_settings(library), create=False) as opened:
        found = opened.document(_document_id(opened, document))
        render.document(found, opened.chunks(found.id), as_json)


@app.command()
@_guarded
def remove(
    document: Annotated[str, typer.Argument(help="Its id, the beginning of its id, or its path.")],
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove every trace of a document from the library. The file itself stays."""
    with build_library(_settings(library), create=False) as opened:
        document_id = _document_id(opened, document)
        opened.remove(document_id)
    render.removed(document_id, as_json)


@app.command()
@_guarded
def doctor(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Show what runs here: versions, the embedder's runtime, the library and its settings."""
    from answerable.interfaces.cli.doctor import diagnose

    render.diagnosis(diagnose(_settings(library)), as_json)


def run() -> None:
    """The command's entry point."""
    try:
        app(standalone_mode=True)
    except KeyboardInterrupt:
        render.error("interrupted; what was finished is kept")
        sys.exit(130)


def _document_id(library: Library, name: str) -> str:
    path = Path(name).expanduser()
    return library.resolve(source_of(path) if path.exists() else name)


def _filters(
    sender: list[str] | None,
    since: str | None,
    until: str | None,
    kind: list[DocumentType] | None,
    source: list[str] | None,
    language: str | None,
    where: str | None,
) -> dict[str, Any] | None:
    conditions: list[dict[str, Any]] = []
    if sender:
        conditions.append({"sender": sender})
    if since:
        conditions.append({"date": {"gte": since}})
    if until:
        conditions.append({"date": {"lte": until}})
    if kind:
        conditions.append({"type": [str(one) for one in kind]})
    if source:
        conditions.append({"source": [source_of(Path(one)) if Path(one).exists() else one for one in source]})
    if language:
        conditions.append({"language": language})
    if where:
        conditions.append(_parse_where(where))
    return {"and": conditions} if conditions else None


def _parse_where(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f'--where is no valid JSON ({error}); write it as \'{{"page": {{"gte": 3}}}}\'') from error
    if not isinstance(parsed, dict):
        raise ValueError('--where must be a JSON object, such as \'{"type": "pdf"}\'')
    return parsed
