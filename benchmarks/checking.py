"""What the check of a written answer costs: CPU time for eight sentences about six passages.

Each sentence cites its passage and leaves out a word of it, so that it has to be read. Beside it, in the same process:
the embedder with the same passages. `--answers 20`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from measuring import corpus, show

from answerable.answering.checking.check import check_answer
from answerable.datatypes import Document, RetrievalResult
from answerable.embedding.local import LocalEmbedder
from answerable.protocols import Passage
from answerable.reading.e5_judge import E5Judge
from answerable.splitting.recursive import RecursiveSplitter
from answerable.text.sentences import sentence_spans

PASSAGES = 6
SENTENCES = 8
LENGTH = 1200
WORDS = (8, 30)
WARMING = 3


def results(texts: Sequence[str]) -> list[RetrievalResult]:
    """Return passages as a search does."""
    documents = [Document.from_text(text, language="en") for text in texts]
    return [RetrievalResult(RecursiveSplitter(100_000, 0).split(document)[0], 1.0, document) for document in documents]


def answer(passages: Sequence[RetrievalResult]) -> str:
    """Return eight sentences of the passages, each without a word in its middle and with its citation."""
    found = []
    for number, result in islice(cycle(enumerate(passages, 1)), SENTENCES):
        content = result.chunk.content
        told = [content[start:end].split() for start, end in sentence_spans(content, "en")]
        # A full stop inside would make two sentences of one.
        whole = [words for words in told if WORDS[0] <= len(words) <= WORDS[1] and " ".join(words).count(".") == 1]
        words = whole[len(found) % len(whole)] if whole else told[0]
        middle = len(words) // 2
        found.append(f"{' '.join([*words[:middle], *words[middle + 1 :]]).rstrip('.')} [{number}].")
    return " ".join(found)


def milliseconds(do: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    started = time.process_time()
    do()
    return 1000 * (time.process_time() - started)


def main() -> None:
    """Check answers and embed the same texts, in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=20)
    options = parser.parse_args()
    texts = [text[:LENGTH] for text in corpus() if len(text) > LENGTH]
    checks, embeddings = [], []
    with tempfile.TemporaryDirectory() as cache:
        judge, embedder = E5Judge(1, Path(cache)), LocalEmbedder(1, cache_folder=Path(cache))
        for number in range(options.answers + WARMING):
            passages = results(texts[number * PASSAGES : (number + 1) * PASSAGES])
            written = answer(passages)
            embedded = [Passage(result.chunk.content) for result in passages]
            checks.append(milliseconds(partial(check_answer, written, passages, "en", judge)))
            embeddings.append(milliseconds(partial(embedder.embed_passages, embedded)))
    check, embedding = (statistics.median(spent[WARMING:]) for spent in (checks, embeddings))
    rows = [
        (f"checking an answer of {SENTENCES} sentences about {PASSAGES} passages, p50", check, "CPU ms"),
        ("embedding the passages, p50", embedding, "CPU ms"),
        ("checking / embedding", check / embedding, "times"),
    ]
    show("checking", rows, answers=options.answers)


if __name__ == "__main__":
    main()
