"""Fuzzes where atheris has no wheel: with random bytes, and with files to begin with that are changed at random.

It finds less, for it doesn't look at what code an input reaches.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random

LONGEST = 4_000
MOST_CHANGES = 8
_KILOBYTES = 1 if sys.platform != "darwin" else 1_024


def fuzz(attempt: Callable[[bytes], None], corpus: Sequence[bytes], arguments: Sequence[str], most_memory: int) -> None:
    """Takes files to run just these, or libFuzzer's -max_total_time, -runs, -seed and -artifact_prefix.

    An input that fails is left in a file, as libFuzzer does. `most_memory` is in MB. Raises what `attempt` raises, and
    AssertionError where it took more memory.
    """
    options = dict(argument.lstrip("-").split("=", 1) for argument in arguments if argument.startswith("-"))
    files = [Path(argument) for argument in arguments if not argument.startswith("-")]
    changed = _changed(corpus, Random(options.get("seed", "1")), float(options.get("max_total_time", 60)))
    if "runs" in options:
        changed = islice(changed, int(options["runs"]))
    executed = 0
    for data in map(Path.read_bytes, files) if files else changed:
        try:
            attempt(data)
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _KILOBYTES // 1_000
            assert used < most_memory, f"{len(data)} bytes took {used} MB"
        except BaseException:
            Path(f"{options.get('artifact_prefix', '')}crash-{sha256(data).hexdigest()[:16]}").write_bytes(data)
            raise
        executed += 1
    print(f"stat::number_of_executed_units: {executed}", file=sys.stderr)


def _changed(corpus: Sequence[bytes], chance: Random, seconds: float) -> Iterator[bytes]:
    """The corpus as it is, then with changes and among random bytes until the time is up."""
    until = time.monotonic() + seconds
    yield from corpus
    while time.monotonic() < until:
        if not corpus or chance.random() < 0.5:
            yield chance.randbytes(chance.randrange(LONGEST))
        else:
            data = bytearray(chance.choice(corpus))
            for _ in range(chance.randint(1, MOST_CHANGES)):
                _change(data, corpus, chance)
            yield bytes(data)


def _change(data: bytearray, corpus: Sequence[bytes], chance: Random) -> None:
    """Puts another byte, nothing, some bytes twice or a piece of another file in a place."""
    start = chance.randint(0, len(data))
    end = min(start + chance.choice((1, 1, 2, 4, 16, 64)), len(data))
    piece = chance.choice(corpus)
    cut = chance.randint(0, len(piece))
    data[start:end] = chance.choice(
        (chance.randbytes(end - start), b"", bytes(data[start:end]) * 2, piece[cut : cut + 64])
    )
