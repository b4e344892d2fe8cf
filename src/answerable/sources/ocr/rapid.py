"""Recognise text with RapidOCR, in a process of its own that is kept for the next page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from answerable.sources.frames import read_pair, write_pair
from answerable.sources.ocr.lines import Line, Page, PictureRefused, Pixels
from answerable.sources.ocr.program import IDLE_STATUS

DETECTOR, RECOGNISER = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from answerable.sources.ocr.program import main
main(*sys.argv[2:])
"""


def models_folder() -> Path | None:
    """Return the folder of the models in RapidOCR's wheel; None without RapidOCR, or with a version without them."""
    spec = find_spec("rapidocr")
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place) / "models"
        if (folder / DETECTOR).is_file() and (folder / RECOGNISER).is_file():
            return folder
    return None


@lru_cache(maxsize=1)
def rapid_recogniser() -> RapidRecogniser:
    """Return the recogniser of this process. Loading the models takes seconds, so it is kept."""
    return RapidRecogniser()


class RapidRecogniser:
    """See `Recogniser`. Thread-safe: one page after another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def page(self, pixels: Pixels, seconds: float) -> Page | None:
        """Return the page's lines, or None if it fails or takes too long."""
        request = {"ask": "page", "width": pixels.width, "height": pixels.height}
        try:
            return next(self._pages(request, pixels.data, seconds), None)
        except PictureRefused:
            return None

    def pages(self, picture: bytes, seconds: float) -> Iterator[Page | None]:
        """Yield each page of a picture file, at last None if one takes too long. Raise PictureRefused."""
        return self._pages({"ask": "picture"}, picture, seconds)

    def _pages(self, request: dict[str, Any], data: bytes, seconds: float) -> Iterator[Page | None]:
        with self._lock:
            is_over = False
            try:
                answer = self._asked({**request, "seconds": seconds}, data, seconds)
                while answer is not None and answer["outcome"] == "page":
                    yield Page(tuple(Line(text, tuple(box), before) for text, box, before in answer["lines"]))
                    answer = self._answer(seconds)
                is_over = answer is not None
            finally:
                if not is_over:
                    # It is still at work, or dead.
                    self._end()
        if answer is None:
            yield None
        elif answer["outcome"] == "failed":
            raise PictureRefused(answer["reason"])

    def _asked(self, request: dict[str, Any], data: bytes, seconds: float) -> dict[str, Any] | None:
        """Send a request; return the first answer. A process that ended because it was idle is started again."""
        for _ in range(2):
            process = self._running()
            assert process.stdin
            with suppress(OSError):
                write_pair(process.stdin, request, data)
                answer = self._answer(seconds)
                if answer is not None or process.wait() != IDLE_STATUS:
                    return answer
            self._end()
        return None

    def _answer(self, seconds: float) -> dict[str, Any] | None:
        """Return the next answer, or None if the process dies, or is killed after `seconds`."""
        process = self._process
        assert process
        assert process.stdout
        timer = threading.Timer(seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            pair = read_pair(process.stdout)
        except OSError:
            return None
        finally:
            timer.cancel()
        return pair[0] if pair else None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # After a fork the process belongs to the parent.
            self._process = None
        elif self._process and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process, self._owner = _start(), os.getpid()
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        process.wait()


def _start() -> subprocess.Popen[bytes]:
    search_path = [*(entry for entry in sys.path if entry), str(Path(__file__).parents[3])]
    folder = str(models_folder())
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, json.dumps(search_path), folder, DETECTOR, RECOGNISER]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing, close_fds=True)
