"""SVG plots of figures with intervals and of reliability, for the documentation and the reports of `lab`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from answerable.evaluation.report import Measured

BINS = 10
"""Bins of a reliability diagram, of equal width: the usual number (Naeini et al. 2015)."""
WIDTH = 640
_HEIGHT = 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 160, 20, 24, 40
_LINE = 16
_COLORS = 4
STYLE = """
svg { max-width: 100%; height: auto; font-size: 12px; }
svg .grid { stroke: #d8dee4; }
svg polyline[points] { fill: none; stroke-width: 2; }
svg line { stroke-width: 2; } svg .grid { stroke-width: 1; }
.c0 { stroke: #0b62b8; fill: #0b62b8; } .c1 { stroke: #b3470f; fill: #b3470f; } .c2 { stroke: #1a7f45; fill: #1a7f45; }
.c3 { stroke: #7a3db8; fill: #7a3db8; }
"""
"""CSS of the plots, for the page's style sheet or a standalone SVG."""


def element(tag: str, *children: Element | str, **attributes: object) -> Element:
    """Return an SVG element with text, which is escaped on output.

    The attribute `class_` becomes class, `font_size` becomes font-size.
    """
    made = Element(tag, {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()})
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif len(made):
            made[-1].tail = (made[-1].tail or "") + child
        else:
            made.text = (made.text or "") + child
    return made


def interval_plot(measured: Sequence[Measured]) -> Element:
    """Plot every figure on a line from 0 to 1, with a dot and an interval for each configuration."""
    names = list(dict.fromkeys(figure.name for each in measured for figure in each.figures))
    row = _LINE * len(measured) + 8
    height = _TOP + row * len(names) + _BOTTOM
    drawing = _drawing(height, "Figures with their 95 % intervals")
    _grid(drawing, height)
    for at, name in enumerate(names):
        middle = _TOP + row * at + row / 2
        drawing.append(element("text", name, x=_LEFT - 8, y=round(middle + 4, 1), text_anchor="end"))
        for number, each in enumerate(measured):
            y = round(_TOP + row * at + 4 + _LINE * (number + 0.5), 1)
            for figure in (figure for figure in each.figures if figure.name == name):
                low, value, high = (round(_x(end), 1) for end in (figure.low, figure.value, figure.high))
                label = f"{each.configuration} {name} {figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"
                color = f"c{number % _COLORS}"
                drawing.append(element("line", x1=low, x2=high, y1=y, y2=y, class_=color))
                drawing.append(element("circle", element("title", label), cx=value, cy=y, r=4, class_=color))
    _legend(drawing, [each.configuration for each in measured])
    return drawing


def reliability_plot(found: Sequence[tuple[str, Reliability]]) -> Element:
    """Plot the share of right answers by predicted probability, one line per name; the grey line is the ideal.

    The size of a dot shows the number of questions.
    """
    drawing = _unit_plot("Reliability", "predicted probability", "share that is right")
    drawing.append(element("line", x1=_x(0), y1=_y(0), x2=_x(1), y2=_y(1), class_="grid"))
    for number, (name, one) in enumerate(found):
        color = f"c{number % _COLORS}"
        places = [(round(_x(each.predicted), 1), round(_y(each.observed), 1)) for each in one.bins]
        drawing.append(element("polyline", points=" ".join(f"{x},{y}" for x, y in places), class_=color))
        for (x, y), each in zip(places, one.bins, strict=True):
            label = f"{name}: predicted {each.predicted:.2f}, observed {each.observed:.2f}, {each.share:.1%} of all"
            radius = round(2 + 6 * each.share**0.5, 1)
            drawing.append(element("circle", element("title", label), cx=x, cy=y, r=radius, class_=color))
    _legend(drawing, [name for name, _ in found])
    return drawing


def _unit_plot(title: str, x_label: str, y_label: str) -> Element:
    """Return a drawing with both axes from 0 to 1."""
    drawing = _drawing(_HEIGHT, title)
    _grid(drawing, _HEIGHT)
    for tenth in (0, 5, 10):
        drawing.append(element("text", f"{tenth / 10:g}", x=_LEFT - 8, y=_y(tenth / 10) + 4, text_anchor="end"))
    drawing.append(element("text", y_label, x=8, y=16))
    drawing.append(element("text", x_label, x=WIDTH - _RIGHT, y=_HEIGHT - 4, text_anchor="end"))
    return drawing


def _drawing(height: int, title: str) -> Element:
    return element(
        "svg", element("title", title), viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, height=height, role="img"
    )


def _grid(drawing: Element, height: int) -> None:
    bottom = height - _BOTTOM
    for tenth in range(0, 11, 2):
        x = round(_x(tenth / 10), 1)
        drawing.append(element("line", x1=x, x2=x, y1=_TOP, y2=bottom, class_="grid"))
        drawing.append(element("text", f"{tenth / 10:g}", x=x, y=bottom + 14, text_anchor="middle"))


def _legend(drawing: Element, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        x = _LEFT + 120 * number
        drawing.append(element("circle", cx=x, cy=12, r=4, class_=f"c{number % _COLORS}"))
        drawing.append(element("text", name, x=x + 8, y=16))


def _x(share: float) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * share


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * share


@dataclass(frozen=True, slots=True)
class Bin:
    """A group of predictions with similar probabilities: their mean, share of true outcomes, share of all."""

    predicted: float
    observed: float
    share: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """The non-empty bins, lowest first, and two errors (lower is better).

    `brier` is the mean squared error (Brier 1950), `calibration_error` the mean distance between the predicted and
    observed values of the bins (Naeini et al. 2015).
    """

    bins: list[Bin]
    brier: float
    calibration_error: float


def reliability(predicted: Sequence[float], outcome: Sequence[bool], weights: Sequence[float] = ()) -> Reliability:
    """Compare probabilities (from 0 to 1, at least one) with outcomes, in bins of equal width."""
    probabilities, came = np.asarray(predicted, float), np.asarray(outcome, float)
    counts = np.asarray(weights, float) if len(weights) else np.ones(len(probabilities))
    counts = counts / counts.sum()
    places = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    bins = []
    for place in np.unique(places):
        inside = places == place
        share = float(counts[inside].sum())
        if share > 0:
            mean, observed = counts[inside] @ probabilities[inside], counts[inside] @ came[inside]
            bins.append(Bin(float(mean) / share, float(observed) / share, share))
    error = sum(each.share * abs(each.predicted - each.observed) for each in bins)
    return Reliability(bins, float(counts @ (probabilities - came) ** 2), float(error))
