"""Set how many examples a property test runs: all in `make test-long`, a fifth in `make test`."""

from __future__ import annotations

from hypothesis import settings

# What the profile `long` gives a test that doesn't say otherwise.
USUAL = 100


def examples(most: int) -> settings:
    """Settings of a test that takes `most` examples in `make test-long`, fewer in proportion in `make test`."""
    return settings(max_examples=max(most * settings().max_examples // USUAL, 1), deadline=None)
