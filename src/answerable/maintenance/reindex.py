"""Changes a library's embedder: embeds all chunks again, stores the new vectors next to the old ones, then switches.

Until the switch, searches use the old vectors. After an interruption, the next run resumes. Documents and chunks don't
change, since splitting doesn't depend on the embedder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from answerable.indexing.prepare import made_vectors, seconds_per_token, stored_passages
from answerable.protocols import Embedder, Fingerprint, NextVectors, Passage, PassageVectors, Store
from answerable.stores.records import other_reindex

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
    begun = collected.fingerprint
    if begun is not None and begun != after:
        raise other_reindex(begun, after)
    missing = collected.missing()
    tokens = 0
    sample: list[Passage] = []
    for batch in stored_passages(store.fetch, missing):
        passages = [each for _, _, each in batch.values()]
        tokens += sum(embedder.count_tokens([each.text for each in passages]))
        sample = sample or passages[:SAMPLE]
    total = store.count()[1]
    seconds = tokens * seconds_per_token(embedder, sample) if sample and embedder.cost(tokens) == 0 else 0.0
    return ReindexReport(before, after, total - len(missing), total, tokens, seconds, embedder.cost(tokens))


def _collect(store: Store, collected: NextVectors, embedder: Embedder) -> Iterator[tuple[int, int]]:
    """Embed all missing chunks; yield after each batch the number of chunks done and in total."""
    missing = collected.missing()
    total = store.count()[1]
    done = total - len(missing)
    yield done, total
    for batch in made_vectors(store.fetch, missing, lambda passages: partial(embedder.embed_passages, passages)):
        collected.keep({number: made for number, _, _, made in batch if isinstance(made, PassageVectors)})
        done += len(batch)
        yield done, total
