"""`answerable sync`, `sources` and `remove` of what is followed: what they print, how they end, and `--watch`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import COMMAND
from made_files import zipped
from site_server import SiteServer
from sources.site.site_visits import page
from typer.testing import CliRunner, Result

from answerable.interfaces.cli.main import app
from answerable.settings import Settings
from answerable.wiring.build import build_library

Call = Callable[..., Result]
PATIENCE = 60.0


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library of the commands that this test calls."""
    monkeypatch.setenv("ANSWERABLE_LIBRARY", str(tmp_path / "library"))
    return tmp_path / "library"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with two notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("# One\n\nThe first note.")
    (folder / "two.md").write_text("# Two\n\nThe second note.")
    return folder


@pytest.fixture
def call(library: Path) -> Call:
    """Runs a command in this process."""
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, [str(one) for one in arguments], prog_name="answerable")


def printed(result: Result) -> Any:
    """The one JSON object that was printed."""
    return json.loads(result.stdout)


def test_sync_tells_of_each_origin_and_of_all(call: Call, notes: Path, tmp_path: Path) -> None:
    archive = tmp_path / "more.zip"
    archive.write_bytes(zipped({"a.md": "# A\n\nAbout a.", "b.md": "# B\n\nAbout b."}))
    assert call("add", notes, archive).exit_code == 0
    (notes / "three.md").write_text("# Three\n\nThe third note.")
    (notes / "two.md").rename(notes / "second.md")
    expected = f"{archive}: unchanged 2\n{notes}: {{}}, unchanged 1\nall: {{}}, unchanged 3\n"
    dry = call("sync", "--dry-run")
    assert (dry.exit_code, dry.stderr) == (0, "")
    assert dry.stdout == expected.format(*["would add 1, would move 1"] * 2)
    done = call("sync")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == expected.format(*["added 1, moved 1"] * 2)
    assert call("sync", notes).stdout == f"{notes}: unchanged 3\n"


def test_sync_as_json(call: Call, notes: Path) -> None:
    call("add", notes)
    found = printed(call("sync", "--json"))
    assert [each["origin"] for each in found["origins"]] == [str(notes)]
    assert found["total"]["unchanged"] == found["origins"][0]["unchanged"] == 2
    assert found["total"]["failed"] == []


def test_what_fails_is_said_and_the_status_is_1(call: Call, notes: Path, tmp_path: Path) -> None:
    call("add", notes)
    (notes / "broken.pdf").write_bytes(b"%PDF-1.7\nbroken")
    broken = call("sync")
    assert broken.exit_code == 1
    assert broken.stdout == f"{notes}: unchanged 2, failed 1\n"
    assert "broken.pdf" in broken.stderr
    notes.rename(tmp_path / "elsewhere")
    gone = call("sync")
    assert (gone.exit_code, gone.stdout) == (1, f"{notes}: failed 1\n")
    assert re.fullmatch(rf"error: There is nothing at {notes} any more; .*answerable remove {notes}`\n", gone.stderr)
    assert len(printed(call("list", "--json"))["documents"]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["sync", "nowhere"],
            "The library doesn't follow 'nowhere'. `answerable sources` lists what it follows.",
        ),
        (["sync", "--watch", "--every", "soon"], "as 6h"),
        (["sync", "--watch", "--dry-run"], "leave out one of them"),
    ],
)
def test_wrong_calls_are_one_clear_line(call: Call, notes: Path, arguments: list[str], said: str) -> None:
    call("add", notes)
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(r"error: [^\n]+\n", result.stderr)
    assert said in result.stderr


def test_sources_shows_what_is_followed(call: Call, notes: Path) -> None:
    call("add", notes, notes / "one.md")
    shown = call("sources").stdout.splitlines()
    assert (shown[0], shown[2]) == (str(notes), str(notes / "one.md"))
    assert re.fullmatch(r"    2 documents from 2 files or pages, synced \d{4}-\d\d-\d\d \d\d:\d\d", shown[1])
    assert shown[3].startswith("    1 document from 1 file or page, synced ")
    found, _ = printed(call("sources", "--json"))["sources"]
    assert (found["origin"], found["options"], found["sources"], found["documents"]) == (str(notes), {}, 2, 2)
    assert set(found) == {"origin", "options", "sources", "documents", "visited"}


def test_a_library_that_follows_nothing_says_how_to_begin(call: Call, notes: Path) -> None:
    call("add", notes)
    removed = call("remove", notes)
    assert (removed.exit_code, removed.stdout) == (0, f"removed 2 documents  {notes}\n")
    assert printed(call("list", "--json")) == {"documents": []}
    for command in ("sync", "sources"):
        result = call(command)
        assert (result.exit_code, result.stdout) == (
            0,
            "Nothing is followed yet. Follow something with: answerable add PATH\n",
        )
    assert sorted(path.name for path in notes.iterdir()) == ["one.md", "two.md"]


def test_an_origin_is_meant_by_a_path_that_leads_to_it(
    call: Call, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("add", notes)
    monkeypatch.chdir(notes)
    assert call("sync", ".").stdout == f"{notes}: unchanged 2\n"
    assert printed(call("remove", ".", "--json")) == {"origin": str(notes), "documents": 2, "unerased": 0}


def test_a_site_is_visited_with_the_options_that_it_was_added_with(library: Path) -> None:
    with SiteServer() as site:
        site.put("/", page("The steps of the guide, in order", [f"/guide/{number}" for number in range(3)]))
        for number in range(3):
            site.put(f"/guide/{number}", page(f"Step {number}: turn the valve by {number} degrees."))
        # Without a sitemap nothing but the option tells the public address.
        site.remove("/sitemap.xml")
        host = site.home.split("/")[2]
        given = Settings(library=str(library), allow_hosts=host, requests_per_second=1000)
        with build_library(replace(given, site_public_url="https://guide.example/")) as opened:
            assert opened.add(site.home).added == 4
            assert all(stored.source.startswith("https://guide.example/") for stored in opened.documents())
        with build_library(given) as opened:
            total = opened.sync().total
            assert (total.added, total.unchanged, total.removed) == (0, 4, 0)
            (origin,) = opened.origins()
            assert origin.options["address"] == site.home
            assert opened.unfollow(site.home).removed == 4


# --watch


@pytest.fixture
def watching(call: Call, notes: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that watches the notes and a single file; its output is in files."""
    (tmp_path / "single.md").write_text("# Single\n\nBy itself.")
    assert call("add", notes, tmp_path / "single.md").exit_code == 0
    with (tmp_path / "output").open("w") as output, (tmp_path / "errors").open("w") as errors:
        process = subprocess.Popen(
            [*COMMAND, "sync", "--watch", "--every", "2h"], stdout=output, stderr=errors, text=True
        )
    yield process
    process.kill()
    process.wait()


def wait_for(path: Path, text: str) -> None:
    """Until a file holds a text."""
    until = time.monotonic() + PATIENCE
    while text not in path.read_text():
        assert time.monotonic() < until, path.read_text()
        time.sleep(0.1)


def test_watch_brings_in_what_changes_until_ctrl_c(
    watching: subprocess.Popen[str], notes: Path, tmp_path: Path, call: Call
) -> None:
    output, errors = tmp_path / "output", tmp_path / "errors"
    wait_for(output, "Watching 2 places")
    (notes / "deep").mkdir()
    (notes / "deep" / "three.md").write_text("# Three\n\nThe third note.")
    wait_for(output, f"{notes}: added 1, unchanged 2\n")
    (notes / "half.pdf").write_bytes((whole := pdf())[:500])
    wait_for(errors, "half.pdf")
    (notes / "half.pdf").write_bytes(whole)
    wait_for(output, f"{notes}: added 1, unchanged 3\n")
    (tmp_path / "new").write_text("# Single\n\nBy itself, but changed.")
    (tmp_path / "new").replace(tmp_path / "single.md")
    wait_for(output, f"{tmp_path / 'single.md'}: changed 1\n")
    # A folder that is away for a while loses nothing and is watched again.
    notes.rename(tmp_path / "away")
    wait_for(errors, "any more")
    (tmp_path / "away").rename(notes)
    (notes / "one.md").unlink()
    wait_for(output, f"{notes}: removed 1, unchanged 3\n")
    watching.send_signal(signal.SIGINT)
    assert watching.wait(PATIENCE) == 0
    assert len(printed(call("list", "--json"))["documents"]) == 4


def pdf() -> bytes:
    """A sample document."""
    return (Path(__file__).parents[2] / "examples" / "riverside-library-rules.pdf").read_bytes()
