"""Check what must hold of any document that was read, and what a file reader must not do."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from draw import Draw

from answerable.answering.citations import cite
from answerable.datatypes import Document, Part, RetrievalResult, document_id
from answerable.errors import AnswerableError, ReaderFailed
from answerable.splitting.by_type import SplitterByType
from answerable.tables.find import find_tables

SPLITTER = SplitterByType(300, 30)
MOST_SECONDS = 5.0
_READ_AGAIN = 5_000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGING = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "shutil.")
_LEAVING = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "ctypes.dlopen")


class Watch:
    """Notes what the process does to the world outside: files written, programs started, connections made.

    The temporary folder may be written to, loopback may be asked. There is no way to stop watching.
    """

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.may_start_programs = False
        self._inside = os.path.realpath(tempfile.gettempdir()) + os.sep
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            is_outside = isinstance(path, (str, bytes)) and not self._is_inside(os.fsdecode(path))
            if is_outside and isinstance(flags, int) and flags & _WRITING:
                self.seen.append(f"writes {path!r}")
        elif event.startswith(_CHANGING):
            if not self._is_inside(str(arguments[0])):
                self.seen.append(f"{event} {arguments[0]!r}")
        elif not self.may_start_programs and event.startswith(_LEAVING):
            self.seen.append(f"{event} {arguments[0]!r}")
        elif event == "socket.connect" and arguments[1][0] != "127.0.0.1":
            self.seen.append(f"connects to {arguments[1]!r}")
        elif event == "socket.getaddrinfo" and arguments[0] not in ("127.0.0.1", b"127.0.0.1"):
            self.seen.append(f"looks up {arguments[0]!r}")

    def _is_inside(self, path: str) -> bool:
        return f"{os.path.realpath(path)}{os.sep}".startswith(self._inside) or path == os.devnull


def one_input(attempt: Callable[[Draw], None], watch: Watch, data: bytes) -> None:
    """Runs a target once. Raises whatever isn't an error of ours, and AssertionError for what must not be."""
    started = time.process_time()
    try:
        attempt(Draw(data))
    except AnswerableError as error:
        assert not isinstance(error, ReaderFailed), error
        message = str(error)
        assert message.strip(), "an error without a message"
        assert len(message) < 4_000, "a message that is too long to read"
        assert message.encode("utf-8", "replace") == message.encode("utf-8", "surrogatepass"), "an unprintable message"
    seconds = time.process_time() - started
    assert seconds < MOST_SECONDS, f"{len(data)} bytes took {seconds:.1f} s"
    assert not watch.seen, "; ".join(watch.seen)


def assert_same_again(read: Callable[[], Document]) -> None:
    """Reads, checks what is there, and reads again where that is cheap: it must be the same."""
    document = read()
    assert_sound(document)
    if len(document.content) < _READ_AGAIN:
        assert read() == document, "it reads otherwise the second time"


def assert_sound(document: Document) -> None:
    """The document can be stored, its parts lie within it in order, and its chunks are its text."""
    assert document.content.strip(), "a document without text"
    assert document.id == document_id(document.source, document.content)
    assert len(document.content_hash) == 64
    for text in _texts(document):
        text.encode("utf-8")
    json.dumps(dict(document.metadata))
    reached = 0
    for part in document.parts:
        assert reached <= part.start <= part.end <= len(document.content), part
        assert part.body is None or part.start <= part.body <= part.end, part
        assert all(part.start <= cell <= part.end for cell in part.cells), part
        reached = part.end
    _assert_chunks(document)
    for table in find_tables(document):
        assert all(0 <= row.start <= row.end <= len(document.content) for row in table.rows)


def _assert_chunks(document: Document) -> None:
    covered = 0
    # Running heads of PDFs, fences of notebooks and comments in marked-up text are in no part.
    has_furniture = any(part.page is not None or part.body is not None for part in document.parts)
    for sequence, chunk in enumerate(SPLITTER.split(document)):
        assert chunk.sequence == sequence
        assert document.content[chunk.start : chunk.end] == chunk.content
        assert has_furniture or not document.content[covered : chunk.start].strip(), "text outside of the chunks"
        covered = max(covered, chunk.end)
        str(chunk.location).encode("utf-8")
        citation = cite(RetrievalResult(chunk, 1.0, document), chunk.start, chunk.end)
        assert citation is None or document.content[citation.start : citation.end] == citation.quote
        assert citation is not None or not chunk.content.strip()
    assert has_furniture or not document.content[covered:].strip(), "text behind the chunks"


def _texts(document: Document) -> Iterator[str]:
    yield from (document.content, document.source, document.title, document.language)
    yield from _strings(document.metadata)
    for part in document.parts:
        yield from _of_part(part)


def _of_part(part: Part) -> Iterator[str]:
    yield from part.headings
    yield from (text for text in (part.anchor, part.sender, part.symbol) if text is not None)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (str(key), *_strings(inner))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _strings(inner)
