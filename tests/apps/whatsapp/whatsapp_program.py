"""Runs Python programs of users, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
APP = ROOT / "apps" / "whatsapp"
EXAMPLE_CHAT = ROOT / "examples" / "Chat de WhatsApp con Viaje a Oaxaca.txt"


def run(code: str, *arguments: str, folder: Path | None = None, **environment: str) -> str:
    """What a program prints; it must end within two minutes."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(APP), "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
