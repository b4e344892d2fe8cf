"""Find the shared development data: next to the repository, or in the folder ANSWERABLE_TEST_DATA."""

import os
from pathlib import Path

# Read at import, because every test runs with an environment of its own.
DATA = Path(os.environ.get("ANSWERABLE_TEST_DATA") or Path(__file__).parents[2] / "shared" / "data")
