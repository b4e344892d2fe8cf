"""The engine's side of the process that takes PDFs apart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from answerable.errors import DamagedSource, SourceError
from answerable.sources import pdf_worker
from answerable.sources.limits import ReadLimits
from answerable.sources.pdf_ocr import Ocr

_DOCUMENTS_PER_PROCESS = 500


class PdfWorker:
    """A process that takes PDFs apart, one after the other; started when first needed and again after it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._answered = 0

    def __enter__(self) -> PdfWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._stop()

    def extract(
        self, data: bytes, source: str, password: str | None, limits: ReadLimits, ocr: Ocr | None = None
    ) -> dict[str, Any]:
        """Texts, outline and metadata of one file. Raises DamagedSource when it kills the process or takes too long."""
        request = {"password": password, "ocr": ocr.request() if ocr else None}
        return self._ask(request, data, source, limits)

    def rectangles(
        self, data: bytes, source: str, password: str | None, limits: ReadLimits, spans: list[tuple[int, int, int]]
    ) -> dict[str, Any]:
        """Where spans (page, start, end) of pages' texts stand. Raises DamagedSource as `extract` does."""
        return self._ask({"password": password, "spans": spans}, data, source, limits)

    def _ask(self, request: dict[str, Any], data: bytes, source: str, limits: ReadLimits) -> dict[str, Any]:
        bounds = {"max_seconds": limits.max_seconds, "max_memory": limits.max_memory}
        with self._lock:
            process = self._running()
            answer = _exchange(process, json.dumps({**request, **bounds}).encode("ascii"), data, limits)
            if answer is None:
                status = self._stop()
                raise _died(status, source, limits)
            self._answered += 1
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # After a fork the pipes belong to the parent: leave its process alone.
            self._process = None
        elif self._answered >= _DOCUMENTS_PER_PROCESS or (self._process and self._process.poll() is not None):
            self._stop()
        if self._process is None:
            self._process = _start()
            self._owner, self._answered = os.getpid(), 0
        return self._process

    def _stop(self) -> int | None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return None
        for pipe in (process.stdin, process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:
                    continue
        try:
            return process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def _exchange(
    process: subprocess.Popen[bytes], request: bytes, data: bytes, limits: ReadLimits
) -> dict[str, Any] | None:
    assert process.stdin
    assert process.stdout
    answer: dict[str, Any] = {"outcome": "working"}
    while answer["outcome"] == "working":
        # The worker's own limit counts processor time. This one also ends a worker that waits or whose system
        # has no such limit, and is wider so that a busy machine is no reason to give up.
        alarm = threading.Timer(limits.max_seconds * 3 + 30, process.kill)
        alarm.start()
        try:
            if request:
                pdf_worker.write_frame(process.stdin, request)
                pdf_worker.write_frame(process.stdin, data)
                request = b""
            frame = pdf_worker.read_frame(process.stdout)
        except OSError:
            return None
        finally:
            alarm.cancel()
        if frame is None:
            return None
        answer = json.loads(frame)
    return answer


def _start() -> subprocess.Popen[bytes]:
    # By path and isolated (-I): starting it doesn't import this package, and html.py beside it can't be taken for the
    # standard library's. It is told our search path, so that it finds PDFium where we would.
    search_path = json.dumps([entry for entry in sys.path if entry])
    command = [sys.executable, "-I", str(Path(pdf_worker.__file__).resolve()), search_path]
    try:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=True
        )
    except OSError as error:
        raise SourceError(
            f"the process that reads PDFs can't be started ({error}): free some memory or processes, then try again"
        ) from error


def _died(status: int | None, source: str, limits: ReadLimits) -> DamagedSource:
    if status is not None and os.name == "posix" and -status in (signal.SIGXCPU, signal.SIGKILL):
        what, setting = f"took longer than {limits.max_seconds:g} s to read", "max_pdf_seconds"
    else:
        what, setting = f"crashed the PDF library or needed over {limits.max_memory / 1e9:g} GB", "max_pdf_memory"
    return DamagedSource(
        f"{source} {what}; it is probably damaged or made to do harm: leave it out, print it to a new PDF, "
        f"or raise the setting {setting} if you trust it"
    )
