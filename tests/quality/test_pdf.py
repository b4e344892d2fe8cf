"""The text of a whole manual in PDF beside the text edition of the same manual: the same words, no furniture."""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections import Counter

import pytest
from development_data import DATA

from answerable.sources.pdf.read import read_pdf

PDF = DATA / "pdf"
# The text edition leaves out the addresses behind its links, which the PDF prints.
_ADDRESS = re.compile(r"https?://[^\s)]+(?:\n[^\s)]*[/.=-][^\s)]*)?")


@pytest.mark.quality
def test_a_manual_has_the_words_of_its_text_edition_and_sections_everywhere() -> None:
    document = read_pdf((PDF / "files" / "maint-guide.es.pdf").read_bytes(), "maint-guide.es.pdf")
    gold = gzip.decompress((PDF / "gold" / "maint-guide.es.txt.gz").read_bytes()).decode("utf-8")
    body = "\n".join(document.content[part.start : part.end] for part in document.parts)
    # Measured .986; with the addresses .970, with the furniture too .962.
    assert f1(words(body), words(gold)) >= 0.98
    assert "Guía del nuevo desarrollador de Debian 61 / 63" in document.content
    assert "61 / 63" not in body
    first = next(number for number, part in enumerate(document.parts) if part.headings)
    assert document.parts[first].page == 7
    assert all(part.headings for part in document.parts[first:])
    # Two levels of chapters and sections stand in its outline.
    assert len({part.headings for part in document.parts[first:]}) == 90


def words(text: str) -> Counter[str]:
    """Words as they are counted, those joined that a line's end broke."""
    text = _ADDRESS.sub(" ", unicodedata.normalize("NFKC", text))
    return Counter(re.findall(r"\w+", re.sub(r"-\n\s*", "", text).lower()))


def f1(found: Counter[str], wanted: Counter[str]) -> float:
    """Token F1 of two bags of words."""
    return 2 * (found & wanted).total() / (found.total() + wanted.total())
