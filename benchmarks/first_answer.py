"""What a first answer costs after documents are added: CPU of the process that stores them and of the one that asks.

A megabyte of text, and a chat of 10,000 messages. Both are found by their words before their vectors are made; what
the vectors of a tenth of each cost is measured in the same run, and told beside it, ten times. The limits are 4 and 6
seconds.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import cycle, islice
from pathlib import Path

from measuring import QUESTION, corpus, run_python, show

from answerable.settings import Settings

ADD = """
import sys, answerable
with answerable.open(sys.argv[1], create=True) as library:
    report = library.add(sys.argv[2], with_vectors=sys.argv[3] == "vectors")
    assert not report.failures and report.added, report
"""
PEOPLE = ("Ana", "Ben", "Carla", "Dan", "Elsa", "Félix")
LIMITS = {"text": 4.0, "chat": 6.0}


def write_text(path: Path, size: int) -> None:
    """A file of so many bytes, of paragraphs."""
    text = ""
    for paragraph in corpus():
        text += f"{paragraph}\n\n"
        if len(text.encode()) >= size:
            break
    path.write_bytes(text.encode()[:size].rpartition(b"\n\n")[0])


def write_chat(path: Path, messages: int) -> None:
    """A chat exported from WhatsApp, of sentences, a message every seven minutes."""
    at, people = datetime(2024, 1, 8, 9), cycle(PEOPLE)
    with path.open("w", encoding="utf-8") as file:
        for said in islice(sentences(), messages):
            file.write(f"{at:%d/%m/%Y, %H:%M} - {next(people)}: {said}\n")
            at += timedelta(minutes=7)


def sentences() -> Iterator[str]:
    """The sentences of the texts that are as long as messages."""
    for text in corpus():
        yield from (each for each in text.replace("\n", " ").split(". ") if 15 < len(each) < 160)


def fresh(place: Path) -> dict[str, str]:
    """Variables for a process that finds compiled models, but no vectors of an earlier run."""
    cache = Path(tempfile.mkdtemp(dir=place))
    models = Settings().cache_path / "models"
    shutil.copytree(models, cache / "models")
    return {"ANSWERABLE_CACHE_FOLDER": str(cache)}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--size", type=int, default=1_000_000, help="bytes of text")
    parser.add_argument("--messages", type=int, default=10_000)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="answerable-first-"))
    rows: list[tuple[str, float, str]] = []
    try:
        # The first question on a machine compiles the models.
        run_python("-m", "answerable", "demo")
        for name, write, size in (("text", write_text, given.size), ("chat", write_chat, given.messages)):
            whole, tenth = place / f"{name}.txt", place / f"{name} tenth.txt"
            write(whole, size)
            write(tenth, size // 10)
            rounds = []
            for number in range(given.repeats):
                library = place / f"{name}{number}"
                added = run_python("-c", ADD, library, whole, "words", environment=fresh(place)).cpu
                asking = "-m", "answerable", "ask", QUESTION, "--library", library
                rounds.append((added, run_python(*asking, environment=fresh(place)).cpu))
            added, asked = (statistics.median(column) for column in zip(*rounds, strict=True))
            vectors = run_python("-c", ADD, place / f"{name} tenth", tenth, "vectors", environment=fresh(place)).cpu
            rows += [
                (f"{name}: stored", added, "s of CPU"),
                (f"{name}: the first answer", asked, "s of CPU"),
                (f"{name}: both", added + asked, f"s of CPU; the limit is {LIMITS[name]:g}"),
                (f"{name}: with vectors first, ten times a tenth", 10 * vectors, "s of CPU"),
            ]
    finally:
        shutil.rmtree(place)
    show("First answer", rows)


if __name__ == "__main__":
    sys.exit(main())
