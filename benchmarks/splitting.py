"""Megabytes per CPU second of splitting real texts: ours beside LangChain's recursive splitter and two others.

All get the same texts (English, Spanish, Portuguese, Markdown, a chat) and the same maximum. Ours gives chunks with
exact offsets, places and ids; LangChain's gives mere texts, or texts with the index where each starts; both are
measured.
What the others need: `pip install langchain-text-splitters semantic-text-splitter chonkie`.
`--size 1000 --overlap 150 --rounds 9`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable

from chonkie import RecursiveChunker
from langchain_text_splitters import RecursiveCharacterTextSplitter
from measuring import DATA, ROOT, corpus, cpu_seconds, median_of, show
from semantic_text_splitter import TextSplitter

from answerable.datatypes import Document
from answerable.splitting.recursive import RecursiveSplitter

SETS = ("xquad/es", "xquad/en", "faquad", "squad2/en-dev", "squad2/es-dev", "squad2/pt-dev")
# The chat is a short one.
CHATS = 20


def real_texts() -> list[str]:
    """About two megabytes from the development sets where they are, otherwise from the examples."""
    chat = (ROOT / "examples" / "Chat de WhatsApp con Viaje a Oaxaca.txt").read_text("utf-8")
    files = sorted((DATA / "chunking_eval" / "corpora").glob("*.md"))
    files += sorted((DATA / "docusaurus").rglob("*sensor-fusion.md"))
    texts = [chat * CHATS, *(path.read_text("utf-8") for path in files)]
    for name in SETS:
        path = DATA / name / "corpus.jsonl"
        if path.is_file():
            paragraphs = (json.loads(line)["text"] for line in path.open(encoding="utf-8"))
            texts.append("\n\n".join(dict.fromkeys(paragraphs)))
    return texts if files else [*texts, "\n\n".join(corpus())]


def main() -> None:
    """A row per splitter, then our share of the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--overlap", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    texts = real_texts()
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    sizes = {"chunk_size": options.size, "chunk_overlap": options.overlap}
    ours = RecursiveSplitter(**sizes)
    plain = RecursiveCharacterTextSplitter(**sizes)
    indexed = RecursiveCharacterTextSplitter(**sizes, add_start_index=True)
    semantic = TextSplitter(options.size, overlap=options.overlap)
    chonkie = RecursiveChunker("character", options.size)

    def timed(work: Callable[[str], Iterable[object]]) -> Callable[[], float]:
        def measure() -> float:
            started = cpu_seconds()
            for text in texts:
                work(text)
            return cpu_seconds() - started

        return measure

    names: dict[str, Callable[[str], Iterable[object]]] = {
        "ours, chunks": lambda text: ours.split(Document.from_text(text, doc_id="text")),
        "ours, spans only": lambda text: ours.spans(text, 0, len(text)),
        "LangChain, texts": plain.split_text,
        "LangChain, with start index": lambda text: indexed.create_documents([text]),
        "semantic-text-splitter, with start index": semantic.chunk_indices,
        "chonkie RecursiveChunker, no overlap": chonkie,
    }
    seconds = dict(zip(names, median_of(options.rounds, *map(timed, names.values())), strict=True))
    rows = [(name, megabytes / taken, "MB per CPU s") for name, taken in seconds.items()]
    for name in list(names)[2:4]:
        rows.append((f"ours, chunks / {name}", seconds[name] / seconds["ours, chunks"], "times"))
    show("splitting", rows, megabytes=round(megabytes, 2), rounds=options.rounds, **sizes)


if __name__ == "__main__":
    main()
