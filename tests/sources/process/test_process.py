"""The process that files are read in: what comes back is what a reader makes, and what it may use is bounded."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from made_files import epub, zipped
from reading_here import read_file
from reading_processes import SLOW, Started, children, is_running, seconds_used, spawned, wait_until
from third_party.plugin_packages import install

from answerable.datatypes import Document
from answerable.errors import DamagedSource, EmptySource, SourceError, SourceTooLarge, UnsupportedSource
from answerable.sources.context import ReadContext, ReadLimits, Skipped
from answerable.sources.file_reader import FileReader
from answerable.sources.process.answers import pack, unpack
from answerable.sources.process.reading_process import ReadingProcess

# Seconds of processor time, more than a process takes to start.
A_WHILE = 0.5
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    """A process of this test's own."""
    with ReadingProcess() as process:
        yield process


def read(
    process: ReadingProcess, file: Path | bytes, source: str = "", skipped: Skipped | None = None
) -> list[Document]:
    """The documents in a file, by the process."""
    return process.read(file, source or str(file), ReadContext(skipped=skipped or Skipped()))


def test_every_format_comes_back_as_it_was_made(process: ReadingProcess, tmp_path: Path) -> None:
    made = {
        "a.csv": b"name,price\nSoup,4\nTea,2\n",
        "a.json": b'[{"a": 1}, {"a": 2}]',
        "a.epub": epub(),
        "a.py": b"def f():\n    return 1\n",
        "a.txt": "One 😀 line.\nCafé.".encode(),
        "b.txt": "Año nuevo, qué tal".encode("latin-1"),
        "a.zip": zipped({"one.md": "# One\n\ntext", "sub/two.html": "<p>two", "x.png": b"\x89PNG\r\n\0", "e.txt": ""}),
    }
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    for path in (*sorted(path for path in EXAMPLES.iterdir() if path.suffix), *sorted(tmp_path.iterdir())):
        here, there = Skipped(), Skipped()
        assert read(process, path, skipped=there) == read_file(path, ReadContext(skipped=here), str(path)), path
        assert read(process, path.read_bytes(), str(path)) == read_file(path, source=str(path))
        assert (there.counts, [str(each) for each in there.errors]) == (
            here.counts,
            [str(each) for each in here.errors],
        )
    document = read(process, EXAMPLES / "espresso-machine-guide.md")[0]
    assert unpack(*json.loads(json.dumps(pack(document)[:1])), pack(document)[1]) == document


def test_errors_come_back_as_they_were_raised(process: ReadingProcess, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "blank.md").write_text(" \n")
    (tmp_path / "picture.txt").write_bytes(b"\x89PNG\r\n\0\0")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 and no more")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "none.zip").write_bytes(zipped({"a.jpg": b"\xff\xd8\xff\0"}))
    for path in (*sorted(tmp_path.iterdir()), tmp_path / "absent.txt", tmp_path):
        with pytest.raises(SourceError) as here:
            read_file(path, source=str(path))
        with pytest.raises(SourceError) as there:
            read(process, path)
        assert (type(there.value), str(there.value)) == (type(here.value), str(here.value))
    for kind, name in ((EmptySource, "blank.md"), (UnsupportedSource, "picture.txt")):
        with pytest.raises(kind):
            read(process, tmp_path / name)
    (tmp_path / "long.txt").write_text("x" * 100)
    with pytest.raises(SourceTooLarge, match="max_file_size"):
        process.read(tmp_path / "long.txt", "long.txt", ReadContext(ReadLimits(max_file_size=50)))


def test_one_process_reads_many_files(process: ReadingProcess) -> None:
    started = Started()
    for number in range(20):
        assert read(process, f"Text {number}.".encode(), "a.txt")[0].content == f"Text {number}."
    assert len(started.all()) == 1


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGSEGV, signal.SIGXCPU])
def test_a_file_that_ends_the_process_is_an_error_and_the_next_is_read(
    process: ReadingProcess, ending: signal.Signals
) -> None:
    with once_reading(lambda child: os.kill(child, ending)), pytest.raises(DamagedSource) as raised:
        read(process, SLOW, "slow.md")
    assert str(raised.value).startswith(
        "slow.md crashed its reader or needed over" if ending is signal.SIGSEGV else "slow.md took longer than"
    )
    assert "leave it out" in str(raised.value)
    assert read(process, b"More text.", "a.txt")[0].content == "More text."


def test_what_takes_longer_than_its_size_allows_is_an_error(process: ReadingProcess) -> None:
    limits = ReadLimits(least_seconds=0, seconds_per_byte=1e-7)
    with pytest.raises(DamagedSource, match=r"^slow\.md took longer than 0\.4 s to read;"):
        process.read(SLOW, "slow.md", ReadContext(limits))
    assert process.read(b"Text.", "a.txt", ReadContext(limits))[0].content == "Text."


WAITING = """
    import time
    from answerable.sources import Format

    def wait(data, source, context):
        time.sleep(3600)

    waiting = Format(name="waiting", suffixes=(".waiting",), read=wait)
"""


@pytest.mark.parametrize("is_packed", [False, pytest.param(True, marks=pytest.mark.long)])
def test_what_waits_instead_of_computing_is_given_up(
    is_packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a minute: the clock's limit for a small file, half of which is for busy machines."""
    install(tmp_path, "waiting-plugin", WAITING, {"sources.waiting": "waiting"})
    monkeypatch.syspath_prepend(tmp_path)
    context = ReadContext(ReadLimits(least_seconds=0, seconds_per_byte=1e-7), skipped=Skipped())
    with ReadingProcess() as process:
        if is_packed:
            (other,) = process.read(zipped({"a.waiting": "x", "b.txt": "Text."}), "a.zip", context)
            assert other.content == "Text."
            [error] = context.skipped.errors
        else:
            with pytest.raises(DamagedSource) as raised:
                process.read(b"x", "a.waiting", context)
            error = raised.value
        assert re.search(r"a\.waiting took longer than 0\.1 s to read; .*leave it out", str(error))
        assert process.read(b"Text.", "a.txt", context)[0].content == "Text."


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems don't limit an address space")
def test_what_needs_more_memory_than_its_size_allows_is_an_error(process: ReadingProcess) -> None:
    limits = ReadLimits(least_memory=20_000_000, memory_per_byte=1)
    with pytest.raises(DamagedSource, match=r"^slow\.md crashed its reader or needed over 0\.0\d+ GB;"):
        process.read(SLOW, "slow.md", ReadContext(limits))
    assert process.read(b"Text.", "a.txt", ReadContext(limits))[0].content == "Text."


def test_of_an_archive_only_what_is_over_its_limits_is_left_out(process: ReadingProcess) -> None:
    members = {
        "a.txt": "One.",
        "b.txt": "",
        "c.md": SLOW,
        "d.jpg": b"\xff\xd8\xff\0",
        "e.pdf": b"%PDF-1.4",
        "f.txt": "Two.",
    }
    skipped = Skipped()
    limits = ReadLimits(least_seconds=0.5, seconds_per_byte=1e-7)
    found = process.read(zipped(members), "a.zip", ReadContext(limits, skipped=skipped))
    assert [(document.source, document.content) for document in found] == [
        ("a.zip!/a.txt", "One."),
        ("a.zip!/f.txt", "Two."),
    ]
    assert skipped.counts == {"empty": 1, "picture (pip install '.[ocr]')": 1}
    assert [str(error).split(" ")[0] for error in skipped.errors] == ["a.zip!/c.md", "a.zip!/e.pdf"]


@pytest.mark.long
def test_an_archive_full_of_what_is_over_its_limits_is_given_up(process: ReadingProcess) -> None:
    skipped = Skipped()
    limits = ReadLimits(least_seconds=0, seconds_per_byte=1e-7)
    members = {"a.txt": "One.", **{f"b{number}.md": SLOW for number in range(9)}}
    (document,) = process.read(zipped(members), "a.zip", ReadContext(limits, skipped=skipped))
    assert document.content == "One."
    assert "not read to the end" in str(skipped.errors[-1])
    assert len(skipped.errors) < 6


def test_who_gives_up_waiting_ends_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_bytes(SLOW)
    (tmp_path / "text.txt").write_text("Text.")
    started = Started()
    with closing(FileReader()) as reader:
        items = reader.visit(str(tmp_path)).items({})
        first = [next(items), next(items)]
        assert all(each.is_being_read and each.source.endswith("slow.md") for each in first)
        (child,) = started.all()
        items.close()
        assert not is_running(child)
        assert reader.read_bytes(b"More.", "a.txt")[0].content == "More."


def test_closing_ends_what_is_read() -> None:
    reader, started = FileReader(), Started()
    with once_reading(lambda child: reader.close()), pytest.raises(SourceError):
        reader.read_bytes(SLOW, "slow.md")
    assert started.all() == []


def test_ctrl_c_and_a_killed_command_end_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_bytes(SLOW)
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        command = [sys.executable, "-m", "answerable", "add", str(tmp_path), "--library", str(tmp_path / "library")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as adding:
            while not (found := children(adding.pid)) or seconds_used(found[0]) < A_WHILE:
                assert adding.poll() is None, adding.stderr and adding.stderr.read()
                time.sleep(0.05)
            adding.send_signal(ending)
            adding.wait(30)
        wait_until(lambda child=found[0]: not is_running(child))  # type: ignore[misc]


def test_workers_of_a_killed_command_end_with_what_they_read(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_bytes(SLOW)
    (tmp_path / "slower.md").write_bytes(SLOW)
    command = [sys.executable, "-m", "answerable", "add", str(tmp_path), "--library", str(tmp_path / "library")]
    with subprocess.Popen([*command, "--workers", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as adding:
        wait_until(
            lambda: any(seconds_used(child) > A_WHILE for worker in spawned(adding.pid) for child in children(worker))
        )
        workers = spawned(adding.pid)
        found = [child for worker in workers for child in children(worker)]
        adding.send_signal(signal.SIGTERM)
        adding.wait(30)
    wait_until(lambda: not any(map(is_running, [*workers, *found])), 15)


@contextmanager
def once_reading(end: Callable[[int], None]) -> Iterator[None]:
    """Does something when a process that this one starts now has been reading for a while."""
    started = Started()
    thread = threading.Thread(target=lambda: end(started.busy(A_WHILE)))
    thread.start()
    try:
        yield
    finally:
        thread.join()
