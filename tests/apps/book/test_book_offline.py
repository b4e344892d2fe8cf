"""Both scripts talk to the book, to Cohere and to nobody else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from book_parts import APP
from site_server import SiteServer
from watching import assert_kept_still, watch

NAMES = ("COHERE_API_KEY", "CO_API_URL", "QDRANT_URL", "ANSWERABLE_ALLOW_HOSTS")


PROGRAM = """
import sys
import main, retrieval

sys.exit(main.main(["--url", sys.argv[1]]) or retrieval.main(["--query", "forward kinematics"]))
"""


def test_nothing_leaves_the_machine(site: SiteServer, environment: Path, tmp_path: Path) -> None:
    variables = {name: os.environ[name] for name in NAMES}
    command = [sys.executable, "-c", PROGRAM, site.home]
    watched = watch(command, tmp_path / "watched", environment, cwd=APP, **variables)
    assert_kept_still(watched, "Vectors stored: 5")
    assert " - Arms: " in watched.stdout
