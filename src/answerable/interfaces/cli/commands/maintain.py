"""`answerable export`, `import`, `copy`, `reindex` and `verify`: move a library, embed it again, or check it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from answerable.errors import LibraryDamaged, SettingsError
from answerable.interfaces.cli.options import ChecksumOption, JsonOption, LibraryOption, Text, open_library
from answerable.interfaces.cli.printing import counted, one_line, print_json, print_outcome, print_text
from answerable.interfaces.plain import verification_json
from answerable.settings import Settings, load_settings

if TYPE_CHECKING:
    from answerable.maintenance.copy import CopyReport
    from answerable.maintenance.reindex import ReindexReport
    from answerable.maintenance.verification.findings import Finding, VerifyReport


def export(
    file: Annotated[Path, Argument(metavar="FILE", help="The file to write, such as library.zip.")],
    library: LibraryOption = None,
    force: Annotated[bool, Option("--force", help="Overwrite an existing file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Export the library with its vectors to a zip of plain JSON lines and NumPy arrays (docs/backup.md).

    Only you may read the file. The same library always gives the same bytes, whatever its store.
    """
    from answerable.interfaces.cli.progress import count_progress
    from answerable.wiring.stores import export_library

    with count_progress("documents", enabled=not as_json) as count:
        settings = load_settings({"library": library})
        done = export_library(settings, file, force, lambda now: count(now.exported, now.documents))
    plain = {"file": str(file), "documents": done.exported, "chunks": done.chunks, "bytes": done.bytes}
    said = f"exported {done.exported:,} documents ({done.chunks:,} passages), {done.bytes:,} bytes"
    print_outcome(as_json, plain, said)


def import_(
    file: Annotated[Path, Argument(metavar="FILE", help="A file written by answerable export.")],
    library: LibraryOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import an exported file into the library without embedding it again. Documents already there are skipped.

    The whole file is checked before anything changes. Run the same command again to finish an interrupted import.
    """
    from answerable.interfaces.cli.progress import count_progress
    from answerable.wiring.stores import import_library

    with count_progress("documents", enabled=not as_json) as count:
        settings = load_settings({"library": library})
        done = import_library(settings, file, lambda now: count(now.copied + now.unchanged, now.documents))
    _print_copied(done, "imported", as_json)


def copy(
    source: Annotated[
        str, Argument(metavar="FROM", help="The library to copy: a folder, postgresql://… or qdrant+http://….")
    ],
    target: Annotated[
        str, Argument(metavar="TO", help="The destination: a folder, postgresql://… or qdrant+http://….")
    ],
    as_json: JsonOption = False,
) -> None:
    """Copy a library to another place without embedding it again. Documents already there are skipped.

    Run the same command again to finish an interrupted copy.
    """
    from answerable.interfaces.cli.progress import count_progress
    from answerable.wiring.stores import copy_library

    with count_progress("documents", enabled=not as_json) as count:
        key = load_settings().qdrant_api_key
        done = copy_library(source, target, lambda now: count(now.copied + now.unchanged, now.documents), key)
    _print_copied(done, "copied", as_json)


def _print_copied(done: CopyReport, verb: str, as_json: bool) -> None:
    plain = {verb: done.copied, "unchanged": done.unchanged, "chunks": done.chunks}
    said = f"{verb} {done.copied:,} documents ({done.chunks:,} passages), {done.unchanged:,} already there"
    print_outcome(as_json, plain, said)


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
    from answerable.wiring.stores import abandon_reindex, reindex_library

    settings = load_settings({"library": library, "embedder": embedder})
    if abandon:
        begun = abandon_reindex(settings)
        said = f"deleted the vectors of {begun}" if begun else "there is no unfinished reindex"
        print_outcome(as_json, {"abandoned": str(begun) if begun else None}, said)
        return
    if embedder is None:
        raise SettingsError("Name the new embedder: answerable reindex --embedder NAME")
    with count_progress("passages", enabled=not (as_json or dry_run)) as count:
        done = reindex_library(settings, dry_run, lambda now: count(now.done, now.chunks))
    said = _estimated(done) if dry_run else _switched(done, settings)
    print_outcome(as_json, {**asdict(done), "embedder": settings.embedder}, said)


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


_ALL = "all"


def verify(
    library: LibraryOption = None,
    repair: Annotated[bool, Option("--repair", help="Repair what can be repaired.")] = False,
    checksum: ChecksumOption = False,
    online: Annotated[bool, Option("--online", help="Also fetch the sites that were added.")] = False,
    embed: Annotated[
        Text, Option(metavar="NUMBER", help="Embed this many passages again, or all (default: 20 if free).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check the library against its sources and itself for missing, stale, leftover, wrong or damaged data.

    Exit status 0: no differences, or all repaired; 1: differences remain.
    """
    from answerable.interfaces.cli.progress import working
    from answerable.maintenance.verification.findings import Finding, Repair, VerifyReport
    from answerable.protocols import Difference
    from answerable.wiring.stores import salvage_library

    number = _number(embed)

    def check() -> VerifyReport:
        with working("checking the library", enabled=not as_json), open_library(library) as opened:
            return opened.verify(repair, checksum, online, number)

    try:
        report = check()
    except LibraryDamaged as error:
        damage = Finding(Difference.DAMAGED, "the library", str(error), Repair.MEND)
        if repair:
            # The library is too damaged to open: salvage it first.
            salvage_library(load_settings({"library": library}).library_address)
            report = check()
            report.repaired.insert(0, damage)
        else:
            report = VerifyReport(findings=[damage])
    if as_json:
        print_json(verification_json(report))
    else:
        _print(report, repair)
    if not report.is_clean:
        raise typer.Exit(1)


def _number(embed: str | None) -> int | None:
    if embed is None or embed == _ALL:
        return sys.maxsize if embed else None
    if not embed.isdecimal():
        raise typer.BadParameter(f"--embed takes a number or {_ALL}, not {embed!r}")
    return int(embed)


def _print(report: VerifyReport, repaired: bool) -> None:
    from answerable.maintenance.verification.findings import Repair

    counts = {"document": report.documents, "passage": report.chunks, "source": report.sources}
    checked = ", ".join(counted(count, name) for name, count in counts.items())
    print_text(f"checked {checked}; {counted(report.embedded, 'passage')} embedded again; {report.seconds:.1f} s")
    for finding in report.repaired:
        print_text(("repaired: ", "green"), _line(finding), wrap=False)
    for finding in report.findings:
        print_text((f"{finding.kind}: ", "bold red"), _line(finding), wrap=False)
        if finding.repair is not Repair.NOTHING and not repaired:
            print_text((f"    --repair {finding.repair}", "dim"))
    for note in report.notes:
        print_text((one_line(note), "dim"))
    if report.is_clean:
        print_text(("no differences" if not report.repaired else "all differences repaired", "green"))


def _line(finding: Finding) -> str:
    return one_line(f"{finding.name}: {finding.detail}")
