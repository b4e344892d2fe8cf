"""Write a report as one self-contained HTML page with tables and plots, without scripts.

Names and types come from users' files, so they are text nodes, which are escaped in the page.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from xml.etree.ElementTree import Element, tostring

from answerable.evaluation.plots import STYLE, element, interval_plot, reliability_plot, risk_plot
from answerable.evaluation.report import FIGURES, Figure, Group, Measured, Report, SetReport

_STYLE = (
    """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #d8dee4; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
small { color: #57606a; }
"""
    + STYLE
)
_READING = (
    "Each figure is a mean over the questions that it applies to, with its 95 % bootstrap interval; the higher, the "
    "better. Differences are from the first configuration, p by the paired randomisation test, not corrected for how "
    "many there are."
)


def write_html(report: Report, path: Path) -> None:
    """Write the page; characters that UTF-8 cannot encode become question marks. Raises OSError."""
    text = "<!DOCTYPE html>\n" + tostring(_page(report), "unicode", method="html") + "\n"
    path.write_text(text, encoding="utf-8", errors="replace")


def _page(report: Report) -> Element:
    policy = f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=f"{policy}; base-uri 'none'; form-action 'none'"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", "Evaluation"),
        element("style", _STYLE),
    )
    made_by = f"answerable {report.version}, embedder {report.embedder}, answers by {report.model}, seed {report.seed}"
    body = element("body", element("h1", "Evaluation"), element("p", made_by), element("p", _READING))
    for each in report.sets:
        body.extend(_section(each))
    return element("html", head, body, lang="en")


def _section(found: SetReport) -> Iterable[Element]:
    yield element("h2", found.name)
    yield element(
        "p",
        f"{found.questions:,} questions, {found.unanswerable:,} of them without an answer, over {found.documents:,} "
        f"documents in {found.passages:,} passages.",
    )
    yield _figures_table(found.measured)
    yield interval_plot(found.measured)
    if any(each.differences for each in found.measured):
        yield element("h3", "Differences")
        yield _differences_table(found.measured)
    if any(each.curve for each in found.measured):
        yield element("h3", "Wrong answers by share answered")
        yield risk_plot(found.measured)
        areas = (f"{each.configuration} {each.risk_area:.3f}" for each in found.measured)
        text = f"Area under the curve, the lower the better: {', '.join(areas)}. The dots mark the current refusals."
        yield element("p", text)
    trusted = [(each.configuration, each.reliability) for each in found.measured if each.reliability]
    if trusted:
        yield element("h3", "Right answers by confidence")
        yield reliability_plot(trusted)
        errors = (f"{name} {one.brier:.3f} and {one.calibration_error:.3f}" for name, one in trusted)
        yield element("p", f"Brier score and calibration error, the lower the better: {', '.join(errors)}.")
    default = found.measured[0]
    for title, groups in (("By language", default.by_language), ("By type", default.by_type)):
        if groups:
            yield element("h3", f"{title} ({default.configuration})")
            yield _groups_table(groups)
    yield element("h3", "Latency in milliseconds")
    yield _table(
        ("configuration", "step", "p50", "p95"),
        [
            [each.configuration, step.step, f"{1000 * step.p50:.1f}", f"{1000 * step.p95:.1f}"]
            for each in found.measured
            for step in each.latencies
        ],
    )


def _figures_table(measured: Sequence[Measured]) -> Element:
    columns = [{figure.name: figure for figure in each.figures} for each in measured]
    rows = [
        [name, *(_cell(column.get(name)) for column in columns), _count(columns[0].get(name))]
        for name in FIGURES
        if any(name in column for column in columns)
    ]
    return _table(("figure", *(each.configuration for each in measured), "questions"), rows)


def _differences_table(measured: Sequence[Measured]) -> Element:
    rows = [
        [
            change.name,
            f"{each.configuration} - {measured[0].configuration}",
            f"{change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}]",
            f"{change.p:.4f}",
        ]
        for each in measured
        for change in each.differences
    ]
    return _table(("figure", "configurations", "difference", "p"), rows)


def _groups_table(groups: Sequence[Group]) -> Element:
    names = [name for name in FIGURES if any(figure.name == name for group in groups for figure in group.figures)]
    rows = []
    for group in groups:
        known = {figure.name: figure for figure in group.figures}
        rows.append([group.name, f"{group.questions:,}", *(_cell(known.get(name)) for name in names)])
    return _table(("", "questions", *names), rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Element:
    head = element("tr", *(element("th", name) for name in header))
    body = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
    return element("table", element("thead", head), element("tbody", *body))


def _cell(figure: Figure | None) -> str:
    return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]" if figure else "–"


def _count(figure: Figure | None) -> str:
    return f"{figure.questions:,}" if figure else "0"
