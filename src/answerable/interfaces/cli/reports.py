"""What the commands that fill a library and keep it up to date print: text for people, one JSON object for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from answerable.indexing.ingest import AddReport
from answerable.indexing.sync import Origin, SyncReport
from answerable.interfaces.cli.printing import one_line, print_json, print_text
from answerable.interfaces.cli.render import error
from answerable.interfaces.plain import added_json, origin_json

_NAMED = 5


def added(report: AddReport, dry_run: bool, as_json: bool) -> None:
    """The summary of an `add`, then what was passed over and what failed."""
    if as_json:
        print_json(added_json(report, dry_run))
        return
    counts = {
        "would change" if dry_run else "changed": report.changed,
        "would move" if dry_run else "moved": report.moved,
        "unchanged": report.unchanged,
        "would remove" if dry_run else "removed": report.removed,
        "passages": report.chunks,
        "tokens": report.tokens,
        "failed": len(report.failures),
    }
    rows = [("would add" if dry_run else "added", f"{report.added:,}")]
    rows += [(name, f"{count:,}") for name, count in counts.items() if count]
    width = max(len(number) for _, number in rows)
    for name, number in rows:
        print_text(f"{name:<12}  {number:>{width}}")
    if report.tokens:
        takes = [f"take {_duration(report.estimated_seconds)}"] if report.estimated_seconds else []
        takes += [f"cost at most ${report.cost:.4f}"] if report.cost else []
        print_text(
            f"It would {' and '.join(takes) or 'cost what the provider asks'} to embed them, less what the cache has."
        )
    _left_out(report)


def _left_out(report: AddReport) -> None:
    if report.kept:
        print_text(f"{report.kept:,} that weren't met are kept: not all could be read.")
    if report.skipped:
        counted = (_counted(report, reason, count) for reason, count in sorted(report.skipped.items()))
        print_text("skipped: ", ", ".join(counted))
    for reason in sorted({each.reason for each in report.passed_over}):
        names = [PurePath(each.source).name for each in report.passed_over if each.reason == reason]
        more = f" and {len(names) - _NAMED:,} more (all with --json)" if len(names) > _NAMED else ""
        print_text(f"  {reason}: ", one_line(", ".join(names[:_NAMED])), more)
    for failure in report.failures:
        error(str(failure.error))


def _counted(report: AddReport, reason: str, count: int) -> str:
    """How many were passed over, as `12 unsupported (9 .png, 3 .mp4)`."""
    suffixes = Counter(PurePath(each.source).suffix.lower() for each in report.passed_over if each.reason == reason)
    kinds = [(one_line(suffix) or "without ending", number) for suffix, number in suffixes.most_common(_NAMED)]
    listed = ", ".join(f"{number:,} {suffix}" for suffix, number in kinds)
    return f"{count:,} {reason}{f' ({listed})' if len(suffixes) > 1 or count > _NAMED else ''}"


def synced(report: SyncReport, dry_run: bool, as_json: bool) -> None:
    """What became of each origin, a line each, then what was passed over and what failed."""
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
        "would add" if dry_run else "added": report.added,
        "would change" if dry_run else "changed": report.changed,
        "would move" if dry_run else "moved": report.moved,
        "would remove" if dry_run else "removed": report.removed,
        "unchanged": report.unchanged,
        "kept": report.kept,
        "failed": len(report.failures),
    }
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count) or "nothing there"


def origins(found: Sequence[Origin], as_json: bool) -> None:
    """What is followed, a few lines each."""
    if as_json:
        print_json({"sources": [origin_json(origin) for origin in found]})
        return
    if not found:
        print_text(("Nothing is followed yet. Follow something with: answerable add PATH", "yellow"))
    for origin in found:
        print_text((one_line(origin.name), "bold"), wrap=False)
        visited = f"{origin.seen.astimezone():%Y-%m-%d %H:%M}"
        documents = "1 document" if origin.documents == 1 else f"{origin.documents:,} documents"
        sources = "1 file or page" if origin.sources == 1 else f"{origin.sources:,} files or pages"
        print_text(f"    {documents} of {sources}, visited {visited}")
        if origin.options:
            print_text("    ", ", ".join(f"{key}: {value}" for key, value in origin.options.items()), wrap=False)


def left(name: str, report: AddReport, as_json: bool) -> None:
    """Which origin isn't followed any more, and how many documents went with it."""
    if as_json:
        print_json({"origin": name, "documents": report.removed})
    else:
        documents = "1 document" if report.removed == 1 else f"{report.removed:,} documents"
        print_text(f"removed {documents}  ", one_line(name), wrap=False)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
