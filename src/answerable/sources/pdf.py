"""PDF → Document: the pages' texts, joined by form feeds.

The text is what PDFium extracts, with one choice of ours: where a word is broken by a hyphen at a line's end, PDFium
gives U+FFFE and joins the lines. We give back "-" and a line end, as the page shows it, so that a quote is verbatim and
`-\\n` stays told apart from a hyphen within a line; search may join such words in the indexed text.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, document_id
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError, SourceTooLarge
from answerable.sources import pdf_worker
from answerable.sources.limits import ReadLimits
from answerable.sources.text import stem

_LINE_END_HYPHEN = "\ufffe"
# A font's unmapped glyphs come as control characters, often in the place of spaces. Form feeds are ours.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\uffff\ufdd0-\ufdef]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_FILE_NAME = re.compile(r"\.[a-z][a-z0-9]{1,4}$", re.IGNORECASE)
_DATE = re.compile(r"(?:D:)?(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
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

    def extract(self, data: bytes, source: str, password: str | None, limits: ReadLimits) -> dict[str, Any]:
        """The worker's answer to one file. Raises DamagedSource when the file kills it or takes too long."""
        request = {"password": password, "max_seconds": limits.max_seconds, "max_memory": limits.max_memory}
        with self._lock:
            process = self._running()
            # The worker's own limit counts processor time. This one also ends a worker that waits or whose system
            # has no such limit, and is wider so that a busy machine is no reason to give up.
            alarm = threading.Timer(limits.max_seconds * 3 + 30, process.kill)
            alarm.start()
            try:
                answer = _exchange(process, json.dumps(request).encode("ascii"), data)
            finally:
                alarm.cancel()
            if answer is None:
                status = self._stop()
                raise _died(status, source, limits)
            self._answered += 1
        result: dict[str, Any] = json.loads(answer)
        return result

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


def _exchange(process: subprocess.Popen[bytes], request: bytes, data: bytes) -> bytes | None:
    assert process.stdin
    assert process.stdout
    try:
        pdf_worker.write_frame(process.stdin, request)
        pdf_worker.write_frame(process.stdin, data)
        return pdf_worker.read_frame(process.stdout)
    except OSError:
        return None


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


def read_pdf(
    data: bytes,
    source: str,
    password: str | None = None,
    limits: ReadLimits | None = None,
    worker: PdfWorker | None = None,
) -> Document:
    """A document from a PDF's bytes, with a part for each page; without a `worker` one is started for this file.

    Raises EncryptedSource, DamagedSource, SourceTooLarge, or EmptySource when no page has a text layer.
    """
    if not data:
        raise EmptySource(f"{source} is empty (0 bytes): download or save it again")
    if worker is None:
        with PdfWorker() as own_worker:
            return read_pdf(data, source, password, limits, own_worker)
    answer = worker.extract(data, source, password, limits or ReadLimits())
    if answer["outcome"] != "text":
        raise _refusal(answer, source, password, limits or ReadLimits())
    if not answer["pages"] or all(page is None for page in answer["pages"]):
        raise DamagedSource(
            f"{source} is a PDF without a readable page: download it again, or open it and print it to a new PDF"
        )
    pages = [_clean(page or "") for page in answer["pages"]]
    if not "".join(pages).strip():
        raise EmptySource(
            f"{source} is a scan without a text layer: add one with `ocrmypdf in.pdf out.pdf`, then add out.pdf"
        )
    return _document(pages, answer["metadata"], source)


def _refusal(answer: dict[str, Any], source: str, password: str | None, limits: ReadLimits) -> SourceError:
    match answer["outcome"]:
        case "password" if password is None:
            return EncryptedSource(f"{source} is encrypted: give its password, or save a copy without one")
        case "password":
            return EncryptedSource(f"{source} is encrypted and the password is wrong: check it, then try again")
        case "large":
            return SourceTooLarge(f"{source} is too large, {answer['reason']}: split it into several PDFs")
        case "memory":
            return DamagedSource(
                f"{source} needs over {limits.max_memory / 1e9:g} GB to read: split it, "
                "or raise the setting max_pdf_memory if you trust it"
            )
    return DamagedSource(
        f"{source} is no readable PDF ({answer['reason']}): download it again, or open it and print it to a new PDF"
    )


def _clean(page: str) -> str:
    page = page.replace("\r\n", "\n").replace("\r", "\n").replace(_LINE_END_HYPHEN, "-\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", page))


def _document(pages: list[str], information: dict[str, str], source: str) -> Document:
    parts = []
    start = 0
    for number, page in enumerate(pages, 1):
        parts.append(Part(start, start + len(page), PartKind.PAGE, page=number))
        # The form feed stands between the pages and belongs to neither.
        start += len(page) + 1
    content = "\f".join(pages)
    information = {key: " ".join(_clean(value).split()) for key, value in information.items()}
    metadata = {"author": information.get("Author", "")}
    if date := _DATE.match(information.get("CreationDate", "") or information.get("ModDate", "")):
        metadata["date"] = "-".join(date.groups())
    return Document(
        document_id(source, content),
        content,
        source,
        _sensible(information.get("Title", "")) or stem(source),
        DocumentType.PDF,
        metadata={key: value for key, value in metadata.items() if value},
        parts=tuple(parts),
    )


def _sensible(title: str) -> str:
    """The title, unless it is a program's or a file's name, which says less than the name of the file itself."""
    title = re.sub(r"^Microsoft (Word|PowerPoint|Excel) - ", "", title)
    useless = (
        _FILE_NAME.search(title)
        or re.fullmatch(r"(untitled|sin t[ií]tulo|sem t[ií]tulo|document|title)[\s\d]*", title, re.IGNORECASE)
        or sum(map(str.isalpha, title)) < 3
        or len(title) > 300
        or "\ufffd" in title
    )
    return "" if useless else title
