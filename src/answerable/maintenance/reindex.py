"""Changing a library's embedder: vectors are made anew from what is stored, gathered beside the old ones, and switched.

Until the switch the library is as it was, and answers with the old vectors. Whatever ends it early, the next time goes
on where this one ended. Documents and chunks stay as they are: how they are cut doesn't depend on the embedder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from answerable.indexing.prepare import passage
from answerable.protocols import Embedder, Fingerprint, NextVectors, Passage, Store
from answerable.stores.binding import other_gathering

# A few seconds of work: as much as is lost when the process is killed.
BATCH = 32
SAMPLE = 8


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """How far it has come: from which embedder to which, and the chunks whose vectors are made, of how many.

    `tokens`, `estimated_seconds` and `cost` (in US dollars, None where the price isn't known) are what a dry run says
    of the chunks that are left.
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
    """Makes the vectors of all chunks with another embedder, and puts them in the place of the old ones in one step.

    From then on the library is to be opened with that embedder; who has it open with the old one gets EmbedderMismatch.
    Raises LibraryReadOnly, EmbedderMismatch where vectors of a third embedder are being gathered, and LibraryError.
    """
    before, after = store.fingerprint, embedder.fingerprint
    gathered = store.next_vectors()
    if before in (None, after):
        gathered.drop()
        store.bind_embedder(after)
        return ReindexReport(before, after)
    gathered.begin(after)
    while True:
        for done, total in _gather(store, gathered, embedder):
            if on_progress:
                on_progress(ReindexReport(before, after, done, total))
        # What has been added meanwhile is seen to before anything is switched.
        if gathered.switch():
            store.refresh()
            total = store.count()[1]
            return ReindexReport(before, after, total, total)


def estimate(store: Store, embedder: Embedder) -> ReindexReport:
    """What `reindex` would still have to do. Where embedding costs nothing, a few passages tell how long it takes."""
    before, after = store.fingerprint, embedder.fingerprint
    if before in (None, after):
        return ReindexReport(before, after)
    gathered = store.next_vectors()
    if gathered.fingerprint not in (None, after):
        assert gathered.fingerprint is not None
        raise other_gathering(gathered.fingerprint, after)
    missing = gathered.missing()
    tokens = 0
    for _, passages in _batches(store, missing):
        tokens += sum(embedder.count_tokens([passage.text for passage in passages]))
    sample = [one for _, passages in _batches(store, missing[:SAMPLE]) for one in passages]
    total = store.count()[1]
    seconds = tokens * _seconds_per_token(embedder, sample) if sample and embedder.cost(tokens) == 0 else 0.0
    return ReindexReport(before, after, total - len(missing), total, tokens, seconds, embedder.cost(tokens))


def _gather(store: Store, gathered: NextVectors, embedder: Embedder) -> Iterator[tuple[int, int]]:
    """Embeds all that is missing; tells after each batch how many chunks are done, of how many."""
    missing = gathered.missing()
    total = store.count()[1]
    done = total - len(missing)
    yield done, total
    for numbers, passages in _batches(store, missing):
        made = embedder.embed_passages(passages)
        gathered.keep(dict(zip(numbers, made, strict=True)))
        done += len(numbers)
        yield done, total


def _batches(store: Store, numbers: Sequence[int]) -> Iterator[tuple[list[int], list[Passage]]]:
    """What is embedded of these chunks, with their numbers; chunks that are gone are left out."""
    for start in range(0, len(numbers), BATCH):
        found = store.fetch(numbers[start : start + BATCH])
        if found:
            yield list(found), [passage(indexed.chunk, indexed.sentences) for indexed, _ in found.values()]


def _seconds_per_token(embedder: Embedder, passages: Sequence[Passage]) -> float:
    # The first one pays for loading the model.
    embedder.embed_passages(passages[:1])
    started = time.monotonic()
    embedder.embed_passages(passages[1:])
    return (time.monotonic() - started) / max(sum(embedder.count_tokens([one.text for one in passages[1:]])), 1)
