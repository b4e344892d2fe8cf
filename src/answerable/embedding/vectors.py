"""Helpers of several embedders: normalise vectors, average windows, embed spans, call in parallel, find prefixes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from answerable.datatypes import FloatArray
from answerable.protocols import Passage, PassageVectors


def normalised(vectors: FloatArray) -> FloatArray:
    """Scale each row to length one; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: FloatArray = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return rows


def means_of_windows(
    windows: Sequence[tuple[int, int]], vectors: Iterable[FloatArray], shape: tuple[int, int]
) -> FloatArray:
    """Return a vector for each text: the mean of its windows' vectors, weighted by tokens, L2-normalised.

    `windows` are pairs of text number and tokens, in the order of `vectors`; `shape` is (number of texts, dimension).
    """
    sums = np.zeros(shape, np.float32)
    for (owner, tokens), vector in zip(windows, vectors, strict=True):
        sums[owner] += tokens * vector
    return normalised(sums)


def spans_as_texts(passages: Sequence[Passage], embed: Callable[[Sequence[str]], FloatArray]) -> list[PassageVectors]:
    """Embed passages and, as separate texts, their spans."""
    if not passages:
        return []
    texts = [text for each in passages for text in (each.text, *(each.text[start:end] for start, end in each.spans))]
    vectors = embed(texts)
    ends = np.cumsum([1 + len(each.spans) for each in passages])
    return [PassageVectors(rows[0], rows[1:]) for rows in np.split(vectors, ends[:-1])]


def without_spans(vectors: FloatArray) -> list[PassageVectors]:
    """Wrap the vectors of passages, with no vectors for their spans."""
    none = np.zeros((0, vectors.shape[1]), np.float32)
    return [PassageVectors(vector, none) for vector in vectors]


def in_parallel(
    call: Callable[[Sequence[str]], FloatArray], batches: Sequence[Sequence[str]], concurrency: int
) -> list[FloatArray]:
    """Call for every batch, at most `concurrency` at once. The first failure cancels the calls that have not begun."""
    if len(batches) <= 1:
        return [call(batch) for batch in batches]
    failures: list[Exception] = []

    def attempt(batch: Sequence[str]) -> FloatArray:
        # On a busy machine, cancelling the futures alone would be too late.
        if failures:
            raise failures[0]
        try:
            return call(batch)
        except Exception as error:
            failures.append(error)
            raise

    with ThreadPoolExecutor(min(len(batches), concurrency)) as threads:
        return list(threads.map(attempt, batches))


_E5 = re.compile(r"(?:^|[/_-])e5-(?!mistral)(?!.*instruct)", re.IGNORECASE)


def prefixes(model: str, prompts: Mapping[str, str | None]) -> tuple[str, str]:
    """Return the prefixes for questions and for passages: the E5 family's prefixes, or the model's own `prompts`."""
    if _E5.search(model):
        return "query: ", "passage: "
    return prompts.get("query") or "", prompts.get("document") or prompts.get("passage") or ""
