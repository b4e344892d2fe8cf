"""Recognise the text of pages without a text layer with the installed tesseract.

The engine finds it (`find_ocr`); the worker renders the pages and runs it (`recognise`), within its limits.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any

from answerable.errors import SettingsError
from answerable.sources.context import Ocr

RESOLUTION = 300
MAX_PIXELS = 40_000_000
_LANGUAGES = re.compile(r"[A-Za-z_]+(\+[A-Za-z_]+)*")


def find_ocr(languages: str = "") -> Ocr | None:
    """Return the tesseract on the search path, or None without it.

    By default it reads English, Spanish and Portuguese, if these are installed. Raises SettingsError if a requested
    language isn't.
    """
    command = shutil.which("tesseract")
    if command is None:
        if languages:
            raise SettingsError(f"tesseract is not installed, but ocr is {languages}: install it, or leave ocr empty")
        return None
    listed = subprocess.run([command, "--list-langs"], capture_output=True, text=True, timeout=60, check=False)
    installed = listed.stdout.split("\n")[1:]
    if not languages:
        usual = [language for language in ("eng", "spa", "por") if language in installed]
        return Ocr(command, "+".join(usual)) if usual else None
    missing = [language for language in languages.split("+") if language not in installed]
    if missing or not _LANGUAGES.fullmatch(languages):
        raise SettingsError(
            f"tesseract can't read {' and '.join(missing) or languages!r}: install the package "
            f"tesseract-ocr-<language>, or choose from {', '.join(filter(None, installed))} (several as eng+spa)"
        )
    return Ocr(command, languages)


def recognise(document: Any, answer: dict[str, Any], ocr: Ocr, working: Callable[[], None]) -> None:
    """Add the texts of scanned pages to the answer, until the time for the file is used up."""
    ends = time.monotonic() + ocr.file_seconds
    for number in answer["scanned"]:
        seconds = min(ocr.page_seconds, ends - time.monotonic())
        if seconds <= 0:
            return
        working()
        text = _read(_rendered(document, number), ocr, seconds)
        if text is not None:
            answer["pages"][number] = text
            answer["recognised"].append(number)


def _rendered(document: Any, number: int) -> bytes:
    """Return the page as a PGM file in shades of grey, at 300 dpi or less for a large page."""
    page = document[number]
    width, height = page.get_size()
    scale = min(RESOLUTION / 72, (MAX_PIXELS / max(width * height, 1)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    rows = memoryview(bitmap.buffer)
    lines = b"".join(bytes(rows[row * bitmap.stride :][: bitmap.width]) for row in range(bitmap.height))
    header = f"P5 {bitmap.width} {bitmap.height} 255\n".encode()
    bitmap.close()
    page.close()
    return header + lines


def _read(image: bytes, ocr: Ocr, seconds: float) -> str | None:
    command = [ocr.command, "stdin", "stdout", "-l", ocr.languages, "--dpi", str(RESOLUTION)]
    try:
        # Several threads are slower than one on images of this size.
        done = subprocess.run(
            command,
            input=image,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return done.stdout.decode("utf-8", "replace").replace("\f", "").replace("\r", "").strip()
