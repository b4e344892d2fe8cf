"""The page of a report: complete, self-contained, and nothing of people's files in it but as text."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from lxml import html

from answerable.evaluation.confidence import Bin, Point, Reliability
from answerable.evaluation.html_report import write_html
from answerable.evaluation.report import Difference, Figure, Group, Latency, Measured, Report, SetReport

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>\x00\ud800&amp;"
CURVE = [Point(0.9, 0.5, 0.0), Point(0.1, 1.0, 0.25)]


def measured(name: str) -> Measured:
    """Some figures."""
    known = [Figure("ndcg@10", 0.75, 0.5, 1.0, 12), Figure("answered", 0.9, 0.8, 0.95, 12)]
    return Measured(
        name,
        known,
        [Group(HOSTILE, 3, known[:1]), Group("es", 9, known)],
        [Group(HOSTILE, 3, known)],
        [Difference("ndcg@10", -0.25, -0.5, 0.0, 0.0321)] if name != "hybrid" else [],
        [Latency("search", 0.0123, 0.0456)],
        CURVE,
        0.125,
        Point(0.5, 0.5, 0.25),
        Reliability([Bin(0.25, 0.5, 0.4), Bin(0.75, 0.5, 0.6)], 0.1875, 0.25),
    )


@pytest.fixture
def page(tmp_path: Path) -> str:
    """The page of a report with hostile names."""
    sets = [SetReport(HOSTILE, 1234, 5678, 12, 4, [measured(name) for name in ("hybrid", "dense", "bm25")])]
    write_html(Report("1.0", HOSTILE, "extractive", 7, sets), tmp_path / "report.html")
    return (tmp_path / "report.html").read_text("utf-8")


def test_names_are_text(page: str) -> None:
    read = html.fromstring(page.replace("\x00", ""))
    assert not read.xpath("//script | //img | //@onerror | //a | //iframe | //link | //object")
    shown = HOSTILE.replace("\x00", "").replace("\ud800", "?")
    assert read.xpath("//h2")[0].text == shown
    assert shown in [cell.text for cell in read.xpath("//td")]


def test_nothing_comes_from_elsewhere(page: str) -> None:
    assert not re.search(r"\s(?:src|href|style|on\w+)=|url\(|@import|https?:", re.sub(r">[^<]*<", "><", page))
    (policy,) = html.fromstring(page.replace("\x00", "")).xpath(
        "//meta[@http-equiv='Content-Security-Policy']/@content"
    )
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_every_figure_is_shown(page: str) -> None:
    read = html.fromstring(page.replace("\x00", ""))
    cells = [cell.text for cell in read.xpath("//td")]
    for text in ("0.750 [0.500, 1.000]", "dense - hybrid", "-0.250 [-0.500, +0.000]", "0.0321", "12.3", "45.6", "–"):
        assert text in cells
    text = read.text_content()
    assert "12 questions, 4 of them without an answer, over 1,234 documents in 5,678 passages." in text
    assert "hybrid 0.125, dense 0.125, bm25 0.125" in text
    assert "hybrid 0.188 and 0.250" in text


def test_drawings_have_a_mark_for_each_figure(page: str) -> None:
    figures, risk, trust = html.fromstring(page.replace("\x00", "")).xpath("//svg")
    dots = figures.xpath(".//circle[title]")
    assert len(dots) == 3 * 2
    assert dots[0].xpath("title")[0].text == "hybrid ndcg@10 0.750 [0.500, 1.000]"
    # Drawn from 160 to 620: .75 stands three quarters of the way along.
    assert float(dots[0].get("cx")) == 160 + 0.75 * 460
    (first, *_) = risk.xpath(".//circle[title]")
    assert (float(first.get("cx")), float(first.get("cy"))) == (390, 280 - 0.25 * 256)
    assert first.xpath("title")[0].text == "hybrid: 0.250 wrong of 0.500 answered"
    lines = risk.xpath(".//polyline/@points")
    assert len(lines) == 3
    assert [tuple(map(float, point.split(","))) for point in lines[0].split()] == [(390, 280), (620, 280 - 0.25 * 256)]

    assert len(trust.xpath(".//circle[title]")) == 3 * 2
    assert len(trust.xpath(".//polyline")) == 3


def test_a_report_of_searches_only_has_no_curve(tmp_path: Path) -> None:
    one = Measured(
        "hybrid", [Figure("mrr", 1, 1, 1, 1)], [], [], [], [Latency("search", 0.1, 0.1)], [], float("nan"), None
    )
    write_html(Report("1.0", "e", "none", 0, [SetReport("s", 1, 1, 1, 0, [one])]), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.count("<svg") == 1
    assert "nan" not in page
