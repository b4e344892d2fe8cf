"""Adding PDF pages: what everything but the embedding costs, and what adding the same folder again costs.

The PDFs are made here, of real text, a page of some 2,400 characters each. Text extraction alone, by pypdfium2, is the
yardstick: nothing that reads these files can cost less. `--pages 1000 --pages-per-file 50`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import textwrap
from collections import Counter
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from measuring import corpus, cpu_seconds, peak_megabytes, run_python, show

LINES = 30
COLUMNS = 84


class Metered:
    """Stands in front of an object and adds up the CPU seconds of each of its methods."""

    def __init__(self, inner: Any, name: str, laps: Counter[str]) -> None:
        self._inner = inner
        self._name = name
        self._laps = laps

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._inner, attribute)
        return partial(self._call, attribute, found) if callable(found) else found

    def _call(self, attribute: str, method: Any, *arguments: Any, **options: Any) -> Any:
        started = cpu_seconds(of_children=False)
        try:
            return method(*arguments, **options)
        finally:
            self._laps[f"{self._name}.{attribute}"] += cpu_seconds(of_children=False) - started


def make_pdf(pages: list[list[str]]) -> bytes:
    """A PDF with these lines on its pages, in Helvetica."""
    numbers = [4 + 2 * number for number in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in zip(numbers, pages, strict=True):
        shown = b"\n".join(b"(%s) Tj T*" % _escaped(line) for line in lines)
        stream = b"BT /F1 11 Tf 14 TL 50 780 Td\n%s\nET" % shown
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (number + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    data = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data))
    return bytes(data) + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer


def _escaped(line: str) -> bytes:
    raw = line.encode("cp1252", "replace")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def make_folder(folder: Path, pages: int, per_file: int) -> None:
    """PDFs with so many pages in all."""
    lines = (line for text in corpus() for line in [*textwrap.wrap(text, COLUMNS), ""])
    written = 0
    while written < pages:
        content = [list(islice(lines, LINES)) for _ in range(min(per_file, pages - written))]
        (folder / f"report-{written:05}.pdf").write_bytes(make_pdf(content))
        written += len(content)


def add(folder: str, library: str, cache: str) -> None:
    """Adds the folder as the command does; prints the CPU seconds by part."""
    from answerable.embedding.cache import CachedEmbedder
    from answerable.library import Library
    from answerable.protocols import Passage
    from answerable.settings import Settings
    from answerable.wiring.build import build_answerer, build_local_embedder, build_reader, build_splitter, build_store

    settings = Settings(cache_folder=cache)
    laps: Counter[str] = Counter()
    local = build_local_embedder(settings)
    if not Path(library).exists():
        # Compiling the model happens once on a machine: it would only make the embedding's share larger.
        local.embed_passages([Passage("once")])
    started = cpu_seconds()
    metered = Metered(local, "embedder", laps)
    cached = CachedEmbedder(metered, settings.cache_path / "embeddings.db", settings.cache_size)
    parts = {
        "store": Metered(build_store(library), "store", laps),
        "embedder": Metered(cached, "cache", laps),
        "splitter": Metered(build_splitter(settings), "splitter", laps),
        "reader": build_reader(settings),
        "answerer": build_answerer(settings, local.fingerprint),
    }
    with Library(**parts) as opened:
        report = opened.add(folder)
    used = cpu_seconds() - started
    counts = {"added": report.added, "unchanged": report.unchanged, "chunks": report.chunks}
    reading = used - (cpu_seconds(of_children=False) - started)
    print(json.dumps({"cpu": used, "reading": reading, "peak": peak_megabytes(), "laps": laps, **counts}))


def extract(folder: str) -> None:
    """Reads every page's text and does nothing with it."""
    import pypdfium2

    characters = 0
    for path in sorted(Path(folder).glob("*.pdf")):
        with pypdfium2.PdfDocument(path) as document:
            characters += sum(len(page.get_textpage().get_text_bounded()) for page in document)
    print(json.dumps({"characters": characters}))


def main() -> None:
    """Adds, adds again, and reads the same files with nothing but the PDF library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--pages-per-file", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, library, cache = (Path(temporary) / name for name in ("pdfs", "library", "cache"))
        folder.mkdir()
        make_folder(folder, options.pages, options.pages_per_file)
        bare = run_python(__file__, "extract", folder)
        first = run_python(__file__, "add", folder, library, cache)
        again = run_python(__file__, "add", folder, library, cache)
    assert first.report["added"] == again.report["unchanged"]
    laps = first.report["laps"]
    embedding = laps["embedder.embed_passages"]
    outside = first.report["cpu"] - embedding
    rows = [
        ("adding", first.report["cpu"], "CPU s"),
        ("of it outside embed_passages", outside, "CPU s"),
        ("share outside embed_passages", 100 * outside / first.report["cpu"], "%"),
        ("outside: reading, in the process that parses PDFs", first.report["reading"], "CPU s"),
        ("outside: storing", laps["store.put"], "CPU s"),
        ("outside: indexing", laps["store.refresh"], "CPU s"),
        ("outside: splitting", laps["splitter.split"], "CPU s"),
        ("outside: cache of vectors", laps["cache.embed_passages"] - embedding, "CPU s"),
        ("adding the same folder again, whole process", again.cpu, "CPU s"),
        ("again / first time", 100 * again.cpu / first.cpu, "%"),
        ("peak memory of adding", first.report["peak"], "MB"),
        ("peer: text by pypdfium2 alone, whole process", bare.cpu, "CPU s"),
        ("again / text by pypdfium2 alone", again.cpu / bare.cpu, "times"),
    ]
    show("ingestion", rows, pages=options.pages, chunks=first.report["chunks"], characters=bare.report["characters"])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["add", folder, library, cache]:
            add(folder, library, cache)
        case ["extract", folder]:
            extract(folder)
        case _:
            main()
