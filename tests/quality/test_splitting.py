"""Where whole real texts are cut: a change of a rule shows here before it shows in anything that was indexed.

Meant to change? `PYTHONPATH=tests .venv/bin/python -m quality.test_splitting` writes the snapshot again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from answerable.datatypes import Chunk, Document
from answerable.sources.markdown import read_markdown
from answerable.splitting.by_type import SplitterByType

from .harness import data_folder

pytestmark = pytest.mark.quality

SNAPSHOT = Path(__file__).with_name("splitting.json")
CHAT = Path(__file__).parents[2] / "examples" / "Chat de WhatsApp con Viaje a Oaxaca.txt"
SENSORS = "docs/13-Physical-AI-Humanoid-Robotics/02-sensors-perception/04-sensor-fusion.md"
SIZES = (128, 512, 1000, 4000)


def plain(path: str) -> Document:
    """A text of Chroma's evaluation, its line ends as they are."""
    return Document.from_text((data_folder() / "chunking_eval" / "corpora" / path).read_bytes().decode(), doc_id=path)


def joined(name: str) -> Document:
    """All paragraphs of a question set as one text."""
    lines = (data_folder() / name / "corpus.jsonl").read_text("utf-8").splitlines()
    return Document.from_text("\n\n".join(json.loads(line)["text"] for line in lines), doc_id=name)


TEXTS: dict[str, Callable[[], Document]] = {
    "speech, en": lambda: plain("state_of_the_union.md"),
    "encyclopedia, en": lambda: plain("wikitexts.md"),
    "log of conversations, en": lambda: plain("chatlogs.md"),
    "documents of universities, pt": lambda: joined("faquad"),
    "encyclopedia, es": lambda: joined("xquad/es"),
    # As a text of many short lines: windows of messages are another rule.
    "WhatsApp chat, es": lambda: Document.from_text(CHAT.read_text("utf-8"), doc_id="chat"),
    "book page in Markdown, en": lambda: read_markdown(
        (data_folder() / "docusaurus" / "robotics_anusbutt" / SENSORS).read_text("utf-8"), "sensors.md"
    ),
}


def cut(document: Document, size: int) -> list[Chunk]:
    """Its chunks with a fifth of overlap."""
    return SplitterByType(size, size // 5).split(document)


def summary(chunks: list[Chunk]) -> dict[str, int | str]:
    """How many there are, and a hash of where each begins and ends."""
    offsets = json.dumps([(chunk.start, chunk.end) for chunk in chunks])
    return {"chunks": len(chunks), "sha256": sha256(offsets.encode()).hexdigest()}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", TEXTS)
def test_whole_texts_are_cut_where_they_were(name: str, size: int) -> None:
    document = TEXTS[name]()
    chunks = cut(document, size)
    covered = 0
    for chunk in chunks:
        assert document.content[chunk.start : chunk.end] == chunk.content
        assert 0 < len(chunk.content) <= size
        assert not document.content[covered : max(chunk.start, covered)].strip()
        covered = chunk.end
    assert not document.content[covered:].strip()
    assert all(one.start < other.start and one.end < other.end for one, other in pairwise(chunks))
    assert summary(chunks) == json.loads(SNAPSHOT.read_text("utf-8"))[name][str(size)]


if __name__ == "__main__":
    found = {name: {size: summary(cut(read(), size)) for size in SIZES} for name, read in TEXTS.items()}
    SNAPSHOT.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
