"""The process that PDFs are taken apart in: reads requests on stdin, writes answers on stdout.

A hostile file can make PDFium loop, eat all memory or crash, so it runs apart from the engine, under limits. This file
is run by its path and imports little of ours, so that starting it costs little. Both directions carry frames: a length
in eight bytes, then that many bytes. A request is a frame of JSON and a frame with the file; an answer is one frame of
JSON, with any number of frames before it that say the work goes on.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from types import ModuleType
from typing import IO, Any

LENGTH = struct.Struct(">Q")
WORKING = b'{"outcome": "working"}'


def write_frame(stream: IO[bytes], data: bytes) -> None:
    """Send bytes with their length before them."""
    stream.write(LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Receive what write_frame sent, or None when the other side has gone."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(header)
    data = stream.read(size)
    return data if len(data) == size else None


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until the engine closes the pipe."""
    while (header := read_frame(requests)) is not None and (data := read_frame(requests)) is not None:
        request = json.loads(header)
        limit(request["max_seconds"], request["max_memory"])
        try:
            answer = _answer(request, data, answers)
        except MemoryError:
            answer = {"outcome": "memory"}
        # The default escapes everything beyond ASCII, lone surrogates too.
        write_frame(answers, json.dumps(answer).encode("ascii"))


def _answer(request: dict[str, Any], data: bytes, answers: IO[bytes]) -> dict[str, Any]:
    # Imported here: only a process that was started by its path knows by now where from.
    if "spans" in request:
        from answerable.sources.pdf_rectangles import span_rectangles

        return span_rectangles(data, request["password"], request["spans"])
    from answerable.sources.pdf_extraction import extract

    return extract(data, request["password"], request["ocr"], lambda: write_frame(answers, WORKING))


def limit(max_seconds: float, max_memory: int) -> None:
    """Let this process use that much more processor time and address space than it has used so far (POSIX only)."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + max_seconds) + 1
    for kind, wanted in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, _address_space() + max_memory)):
        _, hard = resource.getrlimit(kind)
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(kind, (soft, hard))
        except (ValueError, OSError):
            # Some systems (macOS) don't let an address space be limited; the other limits still hold.
            continue


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1_000_000_000


def _find_siblings() -> None:
    """Let the modules beside this one be imported by name, without what their packages would import."""
    here = Path(__file__).resolve().parent
    for name, folder in (("answerable", here.parent), ("answerable.sources", here)):
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package


if __name__ == "__main__":
    # Started without the usual search path (see pdf_process.py): no file beside this one or the user's is taken for
    # a module of another name.
    sys.path[:] = json.loads(sys.argv[1])
    _find_siblings()
    to_engine = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever the library prints must not get between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, to_engine)
