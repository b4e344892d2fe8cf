"""What a terminal shows: addresses that stay whole however narrow it is, bars that stay one however it is resized."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pexpect
import pytest
from commands import COMMAND, links, plain, run_here, run_in_terminal
from providers.scripted_server import Ending, Reply, ScriptedServer
from screen import Screen
from terminal import Terminal

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.settings import Settings
from answerable.wiring.build import build_library

ADDRESS = "https://harbour.example/guides/visitors/lighthouse-keepers-and-their-lamps/opening-hours.html"
BOOKING = "https://harbour.example/booking/lighthouse?season=summer&language=en&visitors=2&boat=none"
TEXT = f"# Lighthouse\n\nThe lighthouse opens at nine, and visits to it are booked at {BOOKING} the day before.\n"
LINK = re.compile(rf"    {re.escape(ADDRESS)}#hours:~:text=\S+")
COLUMNS = 40
QUESTION = "How are visits to the lighthouse booked?"


@pytest.fixture(scope="module")
def site_library(tmp_path_factory: pytest.TempPathFactory, quick_settings: Mapping[str, str]) -> Path:
    """The folder of a library with one page of a site."""
    folder = tmp_path_factory.mktemp("site") / "library"
    parts = (Part(0, len(TEXT), PartKind.SECTION, headings=("Lighthouse",), anchor="hours"),)
    page = Document("lighthouse", TEXT, ADDRESS, "Lighthouse", DocumentType.HTML, "en", parts=parts)
    cache_folder = quick_settings["ANSWERABLE_CACHE_FOLDER"]
    with build_library(Settings(library=str(folder), reader="off", cache_folder=cache_folder)) as library:
        assert library.add_documents([page]).added == 1
    return folder


@cache
def shown(*arguments: str | Path, columns: int = COLUMNS) -> str:
    """What the command sends to a narrow terminal, run once for all tests that look at it."""
    status, sent = run_in_terminal(*arguments, columns=columns)
    assert status == 0, sent
    return sent


def lines_shown(*arguments: str | Path) -> list[str]:
    """The lines that the command sends to a narrow terminal, without colours and links."""
    return plain(shown(*arguments)).split("\r\n")


def test_the_link_of_a_citation_is_a_line_of_its_own(site_library: Path) -> None:
    lines = lines_shown("ask", QUESTION, "--library", site_library)
    assert [line for line in lines if LINK.fullmatch(line)]
    assert "“The lighthouse opens at nine, and" in lines
    assert "[1] Lighthouse" in lines
    # An address that is quoted stays whole too.
    assert [line for line in lines if line.startswith(BOOKING)]
    assert all(len(line) <= COLUMNS for line in lines if "://" not in line)


def test_the_address_of_a_passage_is_a_line_of_its_own(site_library: Path) -> None:
    lines = lines_shown("search", QUESTION, "--library", site_library)
    assert f"    {ADDRESS}" in lines
    assert [line for line in lines if line.startswith(BOOKING)]


@pytest.mark.parametrize("columns", [COLUMNS, pytest.param(80, marks=pytest.mark.long)])
def test_places_and_addresses_are_links_that_no_line_end_breaks(site_library: Path, columns: int) -> None:
    asked = ("ask", QUESTION, "--library", site_library)
    (place, (address, text)) = links(shown(*asked, columns=columns))
    assert text == address
    assert LINK.fullmatch(f"    {address}")
    assert place == (address, "Lighthouse")
    assert links(shown("list", "--library", site_library, columns=columns)) == [(ADDRESS, ADDRESS)]
    assert (ADDRESS, ADDRESS) in links(shown("search", QUESTION, "--library", site_library, columns=columns))
    # What is no terminal gets none.
    assert "\x1b" not in run_here(*asked).stdout


def test_a_link_to_a_file_leads_to_it_whatever_its_name(tmp_path: Path) -> None:
    note = tmp_path / "año 1 #2.txt"
    note.write_text("The gate is blue.")
    assert run_here("add", note, "--library", tmp_path / "library").returncode == 0
    assert links(shown("list", "--library", tmp_path / "library")) == [(note.as_uri(), str(note))]


def test_the_nearest_passages_of_a_refusal_are_links(site_library: Path) -> None:
    sent = shown("ask", "Who won in 1998?", "-v", "--library", site_library)
    assert re.search(r"Refused: the best sentence, “The\r\n(.+\r\n)+The nearest passages:\r\n1\. ", plain(sent))
    assert all(len(line) <= COLUMNS for line in plain(sent).split("\r\n") if "://" not in line)
    assert [address for address, _ in links(sent)][1:] == [ADDRESS]


def test_what_is_removed_is_named_on_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "a folder with a long name, longer than a narrow terminal is wide"
    folder.mkdir()
    (folder / "gate.txt").write_text("The gate is blue.")
    assert run_here("add", folder, "--library", tmp_path / "library").returncode == 0
    assert f"removed 1 document  {folder}" in lines_shown("remove", folder, "--library", tmp_path / "library")


@pytest.fixture
def silent() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.mark.parametrize(
    ("reflows", "exported"),
    [
        (True, False),
        *(pytest.param(*both, marks=pytest.mark.long) for both in ((True, True), (False, True), (False, False))),
    ],
)
def test_bars_stay_one_when_the_terminal_is_resized(
    tmp_path: Path, silent: ScriptedServer, reflows: bool, exported: bool
) -> None:
    for number in range(3):
        (tmp_path / f"{number} notes.txt").write_text(f"Gate {number} opens at nine.")
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment |= {"TERM": "xterm-256color", **({"COLUMNS": "110"} if exported else {})}
    # An embedder that is waited for: the bars are drawn meanwhile.
    silent.script("/v1/embeddings", Reply(None, ending=Ending.HANG))
    environment |= {"OPENAI_BASE_URL": f"{silent.url}/v1", "OPENAI_API_KEY": "none"}
    environment |= {"ANSWERABLE_EMBEDDER": "openai:silent", "ANSWERABLE_EMBEDDING_DIMENSION": "8"}
    adding = [*COMMAND, "add", tmp_path, "--library", tmp_path / "library"]
    screen = Screen(110, reflows)

    def show_a_drawing(command: Terminal) -> None:
        """Shows what is sent next, until nothing more comes for a moment."""
        timeout = 120.0
        try:
            for _ in range(100):
                screen.feed(command.read_nonblocking(65_536, timeout=timeout))
                timeout = 0.04
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            command.close()
            status = f"exit status {command.exitstatus}, signal {command.signalstatus}"
            pytest.fail("\n".join([f"The command ended with {status} and the screen", *screen.lines]))

    with Terminal(adding, environment, timeout=300, size=(24, 110)) as command:
        while "notes.txt" not in screen.lines[0]:
            show_a_drawing(command)
        for width in (70, 45, 110):
            command.setwinsize(24, width)
            screen.resize(width)
            # A drawing that was on its way when the command didn't know of the resize, and some that come after.
            for _ in range(4):
                show_a_drawing(command)
            bars = [line for line in screen.lines if line]
            assert len(bars) == 2, bars
            # While files are stored, and then while their vectors are waited for.
            assert bars[1].startswith(("file ", "making vectors "))
        command.sendintr()
        screen.feed(command.read())
    assert command.exitstatus == 130
    drawn = ("file ", "making vectors", "notes.txt")
    assert not any(each in line for line in screen.lines for each in drawn), screen.lines
