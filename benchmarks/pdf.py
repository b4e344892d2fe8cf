"""Pages a second of CPU: reading PDFs and cutting them into passages, beside PDFium's own text of the same pages.

Both arms read the same files in a process of their own, over and over; what starting costs is taken from a run that
reads a file of one page. Nothing is embedded. The CPU time of the process that takes PDFs apart counts.
`python benchmarks/pdf.py [FILE …]`, by default the quality data's PDFs of more than ten pages.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]
from measuring import DATA, machine, run_python

REPEATS = 6
ROUNDS = 3


def main() -> None:
    """Runs the arms in turn and prints the ratio of their page rates, best and middle of the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--arm", choices=("ours", "pdfium"))
    arguments = parser.parse_args()
    files = arguments.files or long_files()
    if arguments.arm:
        print(json.dumps(ours(files) if arguments.arm == "ours" else pdfium(files)))
        return
    print(machine())
    # One page, which takes no time to speak of.
    short = DATA / "pdf" / "files" / "not_encrypted.pdf"
    for name, group in [*((file.name, [file]) for file in files), ("all", files)]:
        rounds = [{arm: seconds_a_page(arm, group, short) for arm in ("pdfium", "ours")} for _ in range(ROUNDS)]
        rates = {arm: max(1 / each[arm] for each in rounds) for arm in ("pdfium", "ours")}
        ratio = statistics.median(each["pdfium"] / each["ours"] for each in rounds)
        print(
            f"{name}: PDFium {rates['pdfium']:.0f} pages/s, ours {rates['ours']:.0f} pages/s (best of {ROUNDS}), "
            f"ratio {rates['ours'] / rates['pdfium']:.2f} of the best, {ratio:.2f} in the middle"
        )


def seconds_a_page(arm: str, files: list[Path], short: Path) -> float:
    """CPU seconds a page without those of starting."""
    start = run_python(__file__, "--arm", arm, short)
    run = run_python(__file__, "--arm", arm, *files)
    return (run.cpu - start.cpu) / run.report


def ours(files: list[Path]) -> int:
    """Reads and splits; gives the number of pages."""
    from answerable.sources.process.reading_process import ReadingProcess
    from answerable.splitting.by_type import SplitterByType

    splitter = SplitterByType()
    pages = 0
    with ReadingProcess() as worker:
        for file in files * REPEATS:
            (document,) = worker.read(file, str(file))
            if not splitter.split(document):
                sys.exit(f"{file} gave no passage")
            pages += document.content.count("\f") + 1
    return pages


def pdfium(files: list[Path]) -> int:
    """Extracts each page's text as its binding's documentation does; gives the number of pages."""
    pages = 0
    for file in files * REPEATS:
        document = pypdfium2.PdfDocument(file.read_bytes())
        for page in document:
            textpage = page.get_textpage()
            textpage.get_text_range()
            textpage.close()
            page.close()
        pages += len(document)
        document.close()
    return pages


def long_files() -> list[Path]:
    """The PDFs of the quality data that take time."""
    folder = DATA / "pdf"
    cases = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return [folder / "files" / case["file"] for case in cases if case["expect"].get("pages", 0) > 10]


if __name__ == "__main__":
    main()
