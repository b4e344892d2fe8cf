"""`answerable verify`: compare a library with its sources, and check its own data."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from answerable.errors import LibraryDamaged
from answerable.interfaces.cli.options import ChecksumOption, JsonOption, LibraryOption, Text, open_library
from answerable.interfaces.cli.printing import counted, one_line, print_json, print_text
from answerable.interfaces.plain import verification_json
from answerable.settings import load_settings

if TYPE_CHECKING:
    from answerable.maintenance.verification import Finding, VerifyReport

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
    from answerable.maintenance.verification import Finding, Repair, VerifyReport
    from answerable.protocols import Difference
    from answerable.wiring.build import salvage_library

    number = _number(embed)

    def check() -> VerifyReport:
        with open_library(library) as opened:
            return opened.verify(repair, checksum, online, number)

    try:
        report = check()
    except LibraryDamaged as error:
        damage = Finding(Difference.DAMAGED, "the library", str(error), Repair.MEND)
        if repair:
            # Too damaged to open.
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
    from answerable.maintenance.verification import Repair

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
