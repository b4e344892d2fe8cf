"""Print the reports of `add` and `sync`, as text for people or as one JSON object for programs."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

from answerable.interfaces.cli.printing import one_line, print_error, print_json, print_text
from answerable.interfaces.plain import added_json
from answerable.left_out import LeftOutKind
from answerable.sources.ocr.pictures import install_ocr

if TYPE_CHECKING:
    from answerable.indexing.followed_sources import SyncReport
    from answerable.indexing.ingest import AddReport

_NAMED = 5  # most names or documents to print; --json has all


def print_added(report: AddReport, dry_run: bool, as_json: bool) -> None:
    """Print the summary of an `add`, then skipped files and failures."""
    if as_json:
        print_json(added_json(report, dry_run))
        return
    counts = {
        **_changes(report, dry_run),
        "unchanged": report.unchanged,
        "passages": report.chunks,
        "tokens": report.tokens,
        "failed": len(report.failures),
    }
    rows = [(name, f"{count:,}") for at, (name, count) in enumerate(counts.items()) if count or at == 0]
    width = max(len(number) for _, number in rows)
    for name, number in rows:
        print_text(f"{name:<12}  {number:>{width}}")
    if report.tokens:
        takes = [f"take {_duration(report.estimated_seconds)}"] if report.estimated_seconds else []
        takes += [f"cost at most ${report.cost:.4f}"] if report.cost else []
        print_text(f"Embedding would {' and '.join(takes) or 'cost what the provider charges'}, less what is cached.")
    _left_out(report)


def _left_out(report: AddReport) -> None:
    if report.kept:
        print_text(f"{report.kept:,} not found but kept, because not everything could be read.")
    if report.skipped:
        counted = (_counted(report, reason, count) for reason, count in sorted(report.skipped.items()))
        print_text("skipped: ", ", ".join(counted))
    for reason in sorted({each.reason for each in report.passed_over}):
        names = [PurePath(each.source).name for each in report.passed_over if each.reason == reason]
        more = f" and {len(names) - _NAMED:,} more (all with --json)" if len(names) > _NAMED else ""
        print_text(f"  {reason}: ", one_line(", ".join(names[:_NAMED])), more)
    _print_partly(report)
    for failure in report.failures:
        print_error(str(failure.error))


def _print_partly(report: AddReport) -> None:
    """Print a line for each document that was read in part, and how to read pages without text."""
    if report.partly:
        print_text("read in part, left out:")
    for source, found in islice(report.partly.items(), _NAMED):
        print_text("  ", (one_line(PurePath(source).name), "bold"), f": {one_line(', '.join(map(str, found)))}")
    if len(report.partly) > _NAMED:
        print_text(f"  and {len(report.partly) - _NAMED:,} more documents (all with --json)")
    failed = {failure.source for failure in report.failures}
    scans = {source for source, found in report.partly.items() if any(each.kind is LeftOutKind.PAGE for each in found)}
    if scans - failed:
        print_text(f"Pages without text are read with {install_ocr()} or tesseract.")


def _counted(report: AddReport, reason: str, count: int) -> str:
    """Return the number of files skipped for a reason, as text: `12 unsupported (9 .png, 3 .mp4)`."""
    suffixes = Counter(PurePath(each.source).suffix.lower() for each in report.passed_over if each.reason == reason)
    kinds = [(one_line(suffix) or "no extension", number) for suffix, number in suffixes.most_common(_NAMED)]
    listed = ", ".join(f"{number:,} {suffix}" for suffix, number in kinds)
    return f"{count:,} {reason}{f' ({listed})' if len(suffixes) > 1 or count > _NAMED else ''}"


def print_synced(report: SyncReport, dry_run: bool, as_json: bool) -> None:
    """Print a line for each origin, then skipped files and failures."""
    total = report.total
    if as_json:
        rows = [{"origin": name, **added_json(each, dry_run)} for name, each in report.origins.items()]
        print_json({"origins": rows, "total": added_json(total, dry_run)})
        return
    if not report.origins:
        print_text(("Nothing is followed yet. Follow something with: answerable add PATH", "yellow"))
    for name, each in report.origins.items():
        print_text((one_line(name), "bold"), f": {_done(each, dry_run)}", wrap=False)
    if len(report.origins) > 1:
        print_text(("all", "bold"), f": {_done(total, dry_run)}")
    _left_out(total)


def _done(report: AddReport, dry_run: bool) -> str:
    counts = {
        **_changes(report, dry_run),
        "unchanged": report.unchanged,
        "kept": report.kept,
        "failed": len(report.failures),
    }
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count) or "nothing found"


def _changes(report: AddReport, dry_run: bool) -> dict[str, int]:
    names = (("added", "add"), ("changed", "change"), ("moved", "move"), ("removed", "remove"))
    return {f"would {verb}" if dry_run else done: getattr(report, done) for done, verb in names}


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
