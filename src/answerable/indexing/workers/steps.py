"""Who does the work: this process, one job after the other, or workers, many at once. The steps are the same functions.

A step is a function of the module level: what a worker works with, and a job, to a result. Jobs and results can be
pickled, and a step that is done again for the same job gives the same result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from answerable.protocols import Embedder, Passage, PassageVectors, Reader, TextSplitter

Job = TypeVar("Job")
Result = TypeVar("Result")
Given = TypeVar("Given", covariant=True)


@dataclass(frozen=True, slots=True)
class Tools:
    """What steps work with. Every worker has its own."""

    reader: Reader
    splitter: TextSplitter
    embedder: Embedder


class Pending(Protocol[Given]):
    """A job that was handed in."""

    def result(self) -> Given:
        """What came out of it, once it has. Raises what the step raised, and WorkerLost."""
        ...


class Workers(Protocol):
    """Do steps for the one process that owns the store."""

    @property
    def count(self) -> int:
        """How many jobs are done at once."""
        ...

    @property
    def share_files(self) -> bool:
        """Whether they see the files that this process sees."""
        ...

    def submit(self, step: Callable[[Tools, Job], Result], job: Job) -> Pending[Result]:
        """Hands in a job. Jobs are begun in the order in which they were handed in."""
        ...

    def close(self) -> None:
        """Ends what is under way and frees everything. Closing twice is fine."""
        ...


class Later(Generic[Result]):
    """A job that this process does when its result is asked for."""

    def __init__(self, job: Callable[[], Result]) -> None:
        self._job = job

    def result(self) -> Result:
        """Does it."""
        return self._job()


def embed(tools: Tools, passages: Sequence[Passage]) -> list[PassageVectors]:
    """Vectors of the passages in the order given."""
    return tools.embedder.embed_passages(passages)


def in_order(
    workers: Workers,
    step: Callable[[Tools, Job], Result],
    jobs: Iterable[tuple[Job, int]],
    most_jobs: int,
    most_bytes: int,
) -> Iterator[tuple[Job, Pending[Result]]]:
    """Each job, given with its size in bytes, and its outcome, in the order given.

    At most so many jobs, and jobs of so many bytes in all, are ahead of the one that is given out; a job that is
    larger goes alone.
    """
    ahead: deque[tuple[Job, Pending[Result], int]] = deque()
    held = 0
    for job, size in jobs:
        while ahead and (len(ahead) >= most_jobs or held + size > most_bytes):
            done, pending, freed = ahead.popleft()
            held -= freed
            yield done, pending
        ahead.append((job, workers.submit(step, job), size))
        held += size
    for done, pending, _ in ahead:
        yield done, pending
