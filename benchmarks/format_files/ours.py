"""What Answerable reads in one file, and what it cites for passages of it. A process of its own.

`python -m format_files.ours FILE`, with the wanted passages as JSON on standard input.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from reading_here import read_file

from answerable.answering.citations import cite_spans
from answerable.datatypes import Citation, Document
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.ocr.pictures import find_ocr
from answerable.sources.recordings.hear import find_speech
from format_files.words import passages

PAGE_SECONDS = 1500
"""The time for a page, of the clock: this machine may do other work."""


def main() -> None:
    """Prints what is read, and the places of each passage."""
    path, wanted = Path(sys.argv[1]), json.load(sys.stdin)
    documents = read_file(path, ReadContext(ocr=_ocr(), speech=find_speech()))
    places = [[place for document in documents for place in _places(document, text)] for text in wanted]
    _end_ocr()
    print(json.dumps({"text": "\n".join(document.content for document in documents), "places": places}))


def _ocr() -> Ocr | None:
    """What recognises text here, with time enough on a busy machine."""
    found = find_ocr()
    return found and replace(found, page_seconds=PAGE_SECONDS)


def _end_ocr() -> None:
    """Ends the process that recognises text, so that its time is counted."""
    from answerable.sources.ocr.pictures import rapid_recogniser

    child = rapid_recogniser()._child
    child.kill()
    child.end()


def _places(document: Document, text: str) -> list[dict[str, Any]]:
    spans = passages(document.content, text)
    return [_place(document, citation) for citation in cite_spans(document, spans)]


def _place(document: Document, citation: Citation) -> dict[str, Any]:
    location = citation.location
    boxes = [part.box for part in document.parts if part.start < citation.end and part.end > citation.start]
    return {
        "lines": location.lines,
        "pages": location.pages,
        "unit": str(location.unit),
        "headings": location.headings,
        "times": [f"{time:%Y-%m-%d %H:%M}" for time in location.times or ()],
        "senders": location.senders,
        "place": location.place,
        "seconds": location.seconds,
        "source": citation.source,
        "box": next((box for box in boxes if box), None),
    }


if __name__ == "__main__":
    main()
