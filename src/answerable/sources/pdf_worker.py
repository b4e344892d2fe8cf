"""The process that PDFs are taken apart in: reads requests on stdin, writes answers on stdout.

A hostile file can make PDFium loop, eat all memory or crash, so it runs apart from the engine, under limits. This file
is run by its path and imports nothing of ours, so that starting it costs little. Both directions carry frames: a
length in eight bytes, then that many bytes. A request is a frame of JSON and a frame with the file; an answer is one
frame of JSON.
"""

from __future__ import annotations

import json
import os
import re
import struct
import sys
import unicodedata
from typing import IO, Any

LENGTH = struct.Struct(">Q")
MAX_CHARACTERS = 200_000_000
SHORT = 500
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")


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
            answer = extract(data, request["password"])
        except MemoryError:
            answer = {"outcome": "memory"}
        # The default escapes everything beyond ASCII, lone surrogates too.
        write_frame(answers, json.dumps(answer).encode("ascii"))


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


def extract(data: bytes, password: str | None) -> dict[str, Any]:
    """Every page's text and the document's own metadata, or why there is none."""
    import pypdfium2  # type: ignore[import-untyped]
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    try:
        document = pypdfium2.PdfDocument(data, password=password)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        return {"outcome": "password" if locked else "damaged", "reason": str(error)}
    try:
        pages: list[str | None] = []
        has_form = document.get_formtype() != pdfium.FORMTYPE_NONE
        total = 0
        for number in range(len(document)):
            text = _page_text(document, number, has_form)
            pages.append(text)
            total += len(text or "")
            if total > MAX_CHARACTERS:
                return {"outcome": "large", "reason": f"its text is over {MAX_CHARACTERS:,} characters"}
        return {"outcome": "text", "pages": pages, "metadata": document.get_metadata_dict()}
    finally:
        document.close()


def _page_text(document: Any, number: int, has_form: bool) -> str | None:
    """The page's text, or None when the page is broken."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    try:
        page = document[number]
        if has_form and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
            # What was filled into a form lies beside the page until it is pressed into it and the page loaded again.
            page.close()
            page = document[number]
        textpage = page.get_textpage()
    except pypdfium2.PdfiumError:
        return None
    text: str = textpage.get_text_range(errors="surrogatepass")
    if len(text) < SHORT and not textpage.get_text_bounded().strip():
        # All of it lies outside the page: hidden labels, which would make a scan look like a page of text.
        text = ""
    if RIGHT_TO_LEFT.search(text):
        text = _unreverse_ligatures(text, textpage)
    textpage.close()
    page.close()
    return text


def _unreverse_ligatures(text: str, textpage: Any) -> str:
    """Put the letters of right-to-left ligatures into reading order.

    PDFium turns visual into logical order character by character, also within a glyph that stands for several letters
    already in logical order (lam-alef, or a whole word). Letters of one glyph share its origin.
    """
    import ctypes

    import pypdfium2.raw as pdfium

    if max(text) > "\uffff":
        # PDFium counts in UTF-16 units: beyond them its indices aren't ours.
        return text
    x, y = ctypes.c_double(), ctypes.c_double()
    origins: list[tuple[float, float] | None] = []
    for index, character in enumerate(text):
        place = pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, index)
        known = _is_right_to_left(character) and pdfium.FPDFText_GetCharOrigin(textpage, place, x, y)
        origins.append((x.value, y.value) if known else None)
    pieces = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or origins[end] is None or origins[end] != origins[start]:
            glyph = text[start:end]
            # A mark drawn over its letter may share the letter's origin: no glyph's text begins with a mark.
            turn = len(glyph) > 1 and not unicodedata.combining(glyph[-1])
            pieces.append(glyph[::-1] if turn else glyph)
            start = end
    return "".join(pieces)


def _is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL") or unicodedata.combining(character) > 0


if __name__ == "__main__":
    # Started without the usual search path (see pdf.py), so that no file beside this one or the user's is imported.
    sys.path[:] = json.loads(sys.argv[1])
    to_engine = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever the library prints must not get between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, to_engine)
