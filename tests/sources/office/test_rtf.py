"""Rich Text Format."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading_here import read_file

import answerable
from answerable.datatypes import DocumentType
from answerable.errors import DamagedSource, EmptySource
from answerable.sources.office.rtf import read_rtf

HEAD = (
    r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Calibri;}{\f1\fcharset204 Arial;}{\f2\fcharset128 Mincho;}}"
    r"{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s2\outlinelevel1 Own;}}{\info{\title The lease}{\author Ana Ruiz}}"
)


def content(body: str) -> str:
    return read_rtf((HEAD + body + "}").encode("latin-1"), "/in/lease.rtf").content


def test_headings_notes_and_properties() -> None:
    body = r"\pard\s1 Lease\par\pard\s2 Rent\par\pard The rent is 950 \'80.{\footnote Water {\b included}.}\par"
    document = read_rtf((HEAD + body + "}").encode(), "/in/lease.rtf")
    assert document.content == "# Lease\n\n## Rent\n\nThe rent is 950 €.[^1]\n\n[^1]: Water included."
    assert [part.headings for part in document.parts] == [("Lease",), ("Lease", "Rent"), ()]
    assert (document.type, document.title, document.metadata) == (DocumentType.RTF, "The lease", {"author": "Ana Ruiz"})


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"\u8364?5 \u8364\'80 {\uc2\u8364ab}{\uc0\u8364 x}", "€5 € €€x"),
        (r"\u-10179?\u-8704?", "😀"),
        (r"{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} and caf\'e9", "Привет and café"),
        (r"{\f2 \'93\'fa\'96\'7b}", "日本"),
        ("one\\\ntwo {\\v hidden}{\\deleted gone}three\\line four", "one\n\ntwo three\nfour"),
        (r"\lquote a\rquote  \emdash  b\~c\_d\-e \{x\}", "‘a’ — b c-de {x}"),
        (r"{\header top}{\*\unknown {nested} x}{\pict 00ff}text{\*\bkmkstart a}", "text"),
        (r"{\field{\*\fldinst HYPERLINK {x}}{\fldrslt link}}", "link"),
        (r"\bin5 }}}}}after", "after"),
        (r"{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt In a box\par}}}", "In a box"),
    ],
)
def test_characters_and_groups(body: str, text: str) -> None:
    assert content(body) == text


def test_lists_and_tables() -> None:
    items = r"{\listtext 1.\tab}one\par{\listtext\'b7\tab}\ilvl1 two\par"
    rows = r"\trowd\pard\intbl Item\cell Price\cell\row\trowd\pard\intbl Bread\par white\cell 2 | 3\cell\row\pard After"
    assert content(items + rows) == (
        "1. one\n  - two\n\n| Item | Price |\n| --- | --- |\n| Bread white | 2 \\| 3 |\n\nAfter"
    )


def test_headers_of_two_rows() -> None:
    rows = (
        " \\cell May\\cell \\cell",
        "Lake\\cell Fish\\cell Boats\\cell",
        "Blue\\cell 4\\cell 2\\cell",
        "Red\\cell 1\\cell 0\\cell",
    )
    assert content("".join(f"\\trowd\\pard\\intbl {row}\\row" for row in rows)) == (
        "| Lake | May Fish | May Boats |\n| --- | --- | --- |\n| Blue | 4 | 2 |\n| Red | 1 | 0 |"
    )


def test_text_is_read_as_it_is_shown() -> None:
    body = (
        r"A boat is {\strike 20 euros} 25 euros.\par {\listtext 2.1\tab}Row {\striked1\u-10179?\u-8704? off}\par"
        r"{\listtext (b)\tab}Swim\par {\pard\s1{\listtext Article 4.\tab}Water\par}\pard 10{\super 4} litres of "
        r"H{\sub 2}O on the 1{\super st}, twice{\super 6}\par 6 Not in June.\par \u-3842? Sunny"
    )
    assert content(body) == (
        "A boat is ~~20 euros~~ 25 euros.\n\n2.1 Row ~~😀 off~~\n(b) Swim\n\n# Article 4. Water\n\n"
        "10⁴ litres of H₂O on the 1st, twice[^6]\n\n[^6]: Not in June.\n\n☒ Sunny"
    )


def test_files_that_are_not_read() -> None:
    with pytest.raises(EmptySource, match="holds no text"):
        content("")
    with pytest.raises(DamagedSource, match="not an RTF document"):
        read_rtf(b"text", "a.rtf")


@pytest.mark.parametrize("data", ["{" * 200_000, "}" * 200_000 + "text", r"\cell" * 100_000, r"\'e9" * 200_000])
def test_hostile_files_take_no_time(data: str) -> None:
    assert len(content(data + " text")) < 900_000


def test_an_answer_from_a_doc_that_is_one(tmp_path: Path) -> None:
    path = tmp_path / "lease.doc"
    path.write_text(HEAD + r"\pard\s1 Rent\par\pard The rent is 950 euros a month.\par}")
    assert read_file(path)[0].type is DocumentType.RTF
    with answerable.open(":memory:") as library:
        assert library.add(path).failures == []
        citation = library.ask("How much is the rent?").citations[0]
    assert citation.quote == "The rent is 950 euros a month."
    assert str(citation.location) == "Rent"
