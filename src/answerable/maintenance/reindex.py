"""Changes a library's embedder: embeds all chunks again, stores the new vectors next to the old ones, then switches.

Until the switch, searches use the old vectors. After an interruption, the next run resumes. Documents and chunks don't
change, since splitting doesn't depend on the embedder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from answerable.indexing.prepare import passage, seconds_per_token
from answerable.protocols import Embedder, Fingerprint, NextVectors, Passage, Store
from answerable.stores.records import other_reindex

# Passages per batch: a killed process loses one batch, a few seconds of work.
BATCH = 32
# Passages to embed for an estimate of the time: a few seconds of work. A round number.
SAMPLE = 8


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """Progress of reindexing: both embedders, and the chunks done and in total.

    `tokens`, `estimated_seconds` and `cost` (in US dollars, None if the price isn't known) are a dry run's estimates
    for the remaining chunks.
    """

    before: Fingerprint | None
    after: Fingerprint
    done: int = 0
    chunks: int = 0
    tokens: int = 0
    estimated_seconds: float = 0.0
    cost: float | None = 0.0


OnReindexed = Callable[[ReindexReport], None]


def reindex(store: Store, embedder: Embedder, on_progress: OnReindexed | None = None) -> ReindexReport:
    """Embed all chunks with another embedder and replace the old vectors in one step.

    From then on the library must be opened with the new embedder; processes with the old one get EmbedderMismatch.
    Raise LibraryReadOnly, EmbedderMismatch if vectors of a third embedder are being collected, and LibraryError.
    """
    before, after = store.fingerprint, embedder.fingerprint
    collected = store.next_vectors()
    if before in (None, after):
        collected.drop()
        store.bind_embedder(after)
        return ReindexReport(before, after)
    collected.begin(after)
    while True:
        for done, total in _collect(store, collected, embedder):
            if on_progress:
                on_progress(ReindexReport(before, after, done, total))
        # `switch` does nothing if chunks were added meanwhile: embed these, then try again.
        if collected.switch():
            store.refresh()
            total = store.count()[1]
            return ReindexReport(before, after, total, total)


def estimate(store: Store, embedder: Embedder) -> ReindexReport:
    """Estimate tokens, time and cost of the remaining chunks. If embedding is free, time it with a few passages."""
    before, after = store.fingerprint, embedder.fingerprint
    if before in (None, after):
        return ReindexReport(before, after)
    collected = store.next_vectors()
    if collected.fingerprint not in (None, after):
        assert collected.fingerprint is not None
        raise other_reindex(collected.fingerprint, after)
    missing = collected.missing()
    tokens = 0
    for _, passages in _batches(store, missing):
        tokens += sum(embedder.count_tokens([passage.text for passage in passages]))
    sample = [one for _, passages in _batches(store, missing[:SAMPLE]) for one in passages]
    total = store.count()[1]
    seconds = tokens * seconds_per_token(embedder, sample) if sample and embedder.cost(tokens) == 0 else 0.0
    return ReindexReport(before, after, total - len(missing), total, tokens, seconds, embedder.cost(tokens))


def _collect(store: Store, collected: NextVectors, embedder: Embedder) -> Iterator[tuple[int, int]]:
    """Embed all missing chunks; yield after each batch the number of chunks done and in total."""
    missing = collected.missing()
    total = store.count()[1]
    done = total - len(missing)
    yield done, total
    for numbers, passages in _batches(store, missing):
        made = embedder.embed_passages(passages)
        collected.keep(dict(zip(numbers, made, strict=True)))
        done += len(numbers)
        yield done, total


def _batches(store: Store, numbers: Sequence[int]) -> Iterator[tuple[list[int], list[Passage]]]:
    """Yield these chunks in batches, as numbers and passages; skip removed chunks."""
    for start in range(0, len(numbers), BATCH):
        found = store.fetch(numbers[start : start + BATCH])
        if found:
            yield list(found), [passage(indexed.chunk, indexed.sentences) for indexed, _ in found.values()]
