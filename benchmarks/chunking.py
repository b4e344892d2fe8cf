"""How much of the evidence the best chunks hold, and how little else: our splitters beside others at equal sizes.

The method is that of Smith & Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024): texts are cut,
each question gets the `k` chunks of all of them that are nearest by cosine, and their ranges are compared with those of
the evidence, in tokens. Recall is the share of the evidence that they hold, precision the share of them that it is,
IoU the evidence held by all that is either; what overlapping chunks hold twice counts twice against the last two. Every
splitter has the same maximum of characters and the same embedder, which sees a chunk's own text only.

A maximum in tokens or sentences can't be the same: those rows are there for their own sake, with a mean length near.
What the others need: `pip install langchain-text-splitters semantic-text-splitter chonkie`.
`--sets chunking_eval faquad --sizes 800 1600 --only recursive langchain`; vectors are kept in the cache of the quality
tests.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from measuring import DATA, machine

from answerable.datatypes import Document
from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import LocalEmbedder
from answerable.protocols import Passage, TextSplitter
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import trim
from answerable.splitting.recursive import RecursiveSplitter, SentenceSplitter, TokenSplitter

CACHE = Path(platformdirs.user_cache_dir("answerable-tests", appauthor=False))
Span = tuple[int, int]
Splitter = Callable[[str], Iterable[Span]]


@dataclass(frozen=True)
class Text:
    """A text and its questions, each with the ranges that answer it."""

    name: str
    content: str
    questions: tuple[tuple[str, tuple[Span, ...]], ...]


def texts(name: str) -> list[Text]:
    """Chroma's texts with their labelled ranges, or the articles of a question set with the places of the answers."""
    labelled = DATA / name / "questions.jsonl"
    if not labelled.is_file():
        return list(_articles(name))
    queries = [json.loads(line) for line in labelled.open(encoding="utf-8")]
    found = []
    for path in sorted((DATA / name / "corpora").iterdir()):
        questions = tuple(
            (query["text"], tuple((reference["start"], reference["end"]) for reference in query["references"]))
            for query in queries
            if query["corpus_id"] == path.stem
        )
        found.append(Text(path.stem, path.read_bytes().decode(), questions))
    return found


def _articles(name: str) -> Iterator[Text]:
    paragraphs = [json.loads(line) for line in (DATA / name / "corpus.jsonl").open(encoding="utf-8")]
    queries = {query["_id"]: query for query in map(json.loads, (DATA / name / "queries.jsonl").open(encoding="utf-8"))}
    (labels,) = (DATA / name / "qrels").iterdir()
    asked: dict[str, list[Any]] = {}
    for query, paragraph, *_ in (line.split("\t") for line in labels.read_text("utf-8").splitlines()[1:]):
        asked.setdefault(paragraph, []).append(queries[query])
    for title, group in groupby(paragraphs, lambda paragraph: paragraph["_id"].rsplit("-", 1)[0]):
        content, questions = "", []
        for paragraph in group:
            for query in asked.get(paragraph["_id"], ()):
                answer = next(iter(query["answers"]), "")
                at = paragraph["text"].find(answer) if answer else -1
                if at >= 0:
                    start = len(content) + at
                    questions.append((query["text"], ((start, start + len(answer)),)))
            content += paragraph["text"] + "\n\n"
        yield Text(title, content, tuple(questions))


def splitters(size: int, overlap: int) -> dict[str, Splitter]:
    """Each splitter with this maximum of characters; those without overlap only where it is 0."""
    from chonkie import RecursiveChunker, SentenceChunker, TokenChunker
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from semantic_text_splitter import MarkdownSplitter
    from semantic_text_splitter import TextSplitter as SemanticSplitter

    found: dict[str, Splitter] = {
        "recursive (ours)": partial(_ours, RecursiveSplitter(size, overlap)),
        "by type (ours)": partial(_ours, SplitterByType(size, overlap)),
        "tokens (ours)": partial(_ours, TokenSplitter("cl100k_base", size // 4, overlap // 4)),
        "sentences (ours)": partial(_ours, SentenceSplitter(max(size // 160, 2), 1 if overlap else 0)),
        "langchain recursive": partial(
            _langchain,
            RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, add_start_index=True),
        ),
        "semantic-text-splitter": partial(_semantic, SemanticSplitter(size, overlap=overlap)),
        "semantic-text-splitter, Markdown": partial(_semantic, MarkdownSplitter(size, overlap=overlap)),
        "chonkie sentences": partial(_chonkie, SentenceChunker("character", size, overlap)),
        "chonkie windows": partial(_chonkie, TokenChunker("character", size, overlap)),
    }
    if not overlap:
        found["chonkie recursive"] = partial(_chonkie, RecursiveChunker("character", size))
    return found


def _ours(splitter: TextSplitter, text: str) -> Iterator[Span]:
    return ((chunk.start, chunk.end) for chunk in splitter.split(Document.from_text(text, type="markdown")))


def _langchain(splitter: Any, text: str) -> Iterator[Span]:
    for document in splitter.create_documents([text]):
        start = document.metadata["start_index"]
        yield start, start + len(document.page_content)


def _semantic(splitter: Any, text: str) -> Iterator[Span]:
    return ((start, start + len(chunk)) for start, chunk in splitter.chunk_indices(text))


def _chonkie(splitter: Any, text: str) -> Iterator[Span]:
    return ((chunk.start_index, chunk.end_index) for chunk in splitter(text))


@cache
def token_places(text: str) -> list[float]:
    """How many tokens stand before each character: those of a word are shared out evenly among its characters."""
    from toktok import truncate

    shares: list[float] = []
    for word in re.findall(r"\s*\S+|\s+$", text):
        shares += [truncate(word, 1, "cl100k_base")[1] / len(word)] * len(word)
    return [0.0, *accumulate(shares)]


def scores(found: Sequence[Span], evidence: Sequence[Span], places: Sequence[float]) -> tuple[float, float, float]:
    """Recall, precision and IoU of the ranges found."""

    def tokens(spans: Iterable[Span]) -> float:
        return sum(places[end] - places[start] for start, end in spans)

    retrieved = tokens(found)
    wanted = tokens(evidence)
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    shared = tokens(
        (max(start, first), min(end, last))
        for start, end in merged
        for first, last in evidence
        if max(start, first) < min(end, last)
    )
    return shared / wanted, shared / retrieved, shared / (retrieved + wanted - shared)


def evaluate(splitter: Splitter, corpus: Sequence[Text], embedder: CachedEmbedder, k: int) -> dict[str, Any]:
    """The three scores of every question, and the lengths of the chunks in characters.

    All texts are searched at once: each stands behind the one before, as if they were one.
    """
    spans: list[Span] = []
    chunks: list[Passage] = []
    places: list[float] = [0.0]
    asked: list[tuple[str, Sequence[Span]]] = []
    for text in corpus:
        base = len(places) - 1
        for start, end in splitter(text.content):
            start, end = trim(text.content, start, end)
            if start < end:
                spans.append((base + start, base + end))
                chunks.append(Passage(text.content[start:end]))
        for question, evidence in text.questions:
            asked.append((question, [(base + start, base + end) for start, end in evidence]))
        places += [places[-1] + place for place in token_places(text.content)[1:]]
    vectors = np.stack([found.whole for found in embedder.embed_passages(chunks)])
    every = []
    for question, ranges in asked:
        best = np.argsort(-(vectors @ query_vector(embedder, question)), kind="stable")[:k]
        every.append(scores([spans[number] for number in best], ranges, places))
    return {"scores": np.array(every), "lengths": np.array([end - start for start, end in spans])}


@cache
def query_vector(embedder: CachedEmbedder, question: str) -> Any:
    """The vector of a question, embedded once per run."""
    return embedder.embed_query(question)


def main() -> None:
    """A table per set, size and overlap, then one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["chunking_eval"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[800, 1600], help="characters")
    parser.add_argument("--overlaps", nargs="+", type=int, default=[0, 8], help="0, or one so many-th of the size")
    parser.add_argument("--only", nargs="+", default=[""], help="splitters whose names begin with one of these")
    parser.add_argument("-k", type=int, default=5, help="chunks per question")
    options = parser.parse_args()
    local = LocalEmbedder(cache_folder=CACHE / "models")
    embedder = CachedEmbedder(local, CACHE / "embeddings.db", 10**11)
    figures: dict[str, Any] = {}
    for name in options.sets:
        corpus = texts(name)
        for size in options.sizes:
            for part in options.overlaps:
                overlap = size // part if part else 0
                title = f"{name}, {size} characters, overlap {overlap}"
                print(f"\n{title}\n  {'':34}recall            precision       IoU             length")
                for splitter, split in splitters(size, overlap).items():
                    if splitter.startswith(tuple(options.only)):
                        figures[f"{title}: {splitter}"] = _row(splitter, evaluate(split, corpus, embedder, options.k))
    print(json.dumps({"benchmark": "chunking", "k": options.k, "figures": figures, "machine": machine()}))


def _row(name: str, found: dict[str, Any]) -> dict[str, float]:
    means = found["scores"].mean(axis=0)
    # Half of a 95 % interval of the mean.
    halves = 1.96 * found["scores"].std(axis=0, ddof=1) / len(found["scores"]) ** 0.5
    length, longest = found["lengths"].mean(), found["lengths"].max()
    shown = "   ".join(f"{mean:.4f} ± {half:.4f}" for mean, half in zip(means, halves, strict=True))
    print(f"  {name:<32}  {shown}   {length:5.0f} (to {longest})", flush=True)
    recall, precision, iou = (round(float(mean), 4) for mean in means)
    figures = {"recall": recall, "precision": precision, "IoU": iou}
    return {**figures, "length": round(float(length)), "longest": int(longest)}


if __name__ == "__main__":
    main()
