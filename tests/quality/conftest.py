import pytest

from .harness import Bench


@pytest.fixture(scope="session")
def bench() -> Bench:
    return Bench()
