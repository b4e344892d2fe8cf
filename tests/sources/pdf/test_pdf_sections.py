"""Sections of PDFs: from the outline, from sizes of type; running heads and page numbers beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from answerable.datatypes import Document
from answerable.sources.pdf.page_text import headers_and_footers
from answerable.sources.pdf.read import read_pdf

MakePdf = Callable[..., bytes]
BODY = "The pump is filled with water first.\nThen it is switched on and runs."


def test_an_outline_gives_the_path_of_headings_and_where_they_begin(make_pdf: MakePdf) -> None:
    pages = [
        f"Chapter 1\nPumps\n{BODY}",
        f"1.1. Filling\n{BODY}\n1.2. Emptying\nAll is let out.",
        "Spare parts are sold.",
    ]
    outline = [(0, "Pumps", 0), (1, "Filling", 1), (1, "Emptying", 1), (0, "Printed nowhere", 2)]
    document = read_pdf(with_outline(make_pdf(pages), outline), "a.pdf")
    assert sections(document) == [
        (1, ("Pumps",), "Pumps"),
        (2, ("Pumps", "Filling"), "1.1. Filling"),
        (2, ("Pumps", "Emptying"), "1.2. Emptying"),
        (3, ("Printed nowhere",), "Spare parts are sold."),
    ]


def test_a_line_that_reads_as_the_title_wins_over_one_that_only_ends_so(make_pdf: MakePdf) -> None:
    pages = ["10 Pumps\nText of the section before.\nPumps\nText of the section."]
    document = read_pdf(with_outline(make_pdf(pages), [(0, "Pumps", 0)]), "a.pdf")
    assert sections(document)[-1][2] == "Pumps"


def test_a_title_over_two_lines_and_one_that_its_outline_numbers(make_pdf: MakePdf) -> None:
    pages = ["Before.\nHow pumps are\nfilled with water\nText.\nEmptying\nText."]
    outline = [(0, "How pumps are filled with water", 0), (0, "1.2 Emptying", 0)]
    document = read_pdf(with_outline(make_pdf(pages), outline), "a.pdf")
    assert [text for _, _, text in sections(document)] == ["How pumps are", "Emptying"]


def test_a_heading_behind_its_number_wins_over_a_line_of_the_text_before(make_pdf: MakePdf) -> None:
    pages = ["All of it is done by\nLVM2.\nbash\n9.6.4 LVM2\nText.\nResults\nText.\nA.1 It isn't so\nText."]
    outline = [(0, "LVM2", 0), (0, "Appendix IV Results", 0), (0, "It isn\\220t so", 0)]
    document = read_pdf(with_outline(make_pdf(pages), outline), "a.pdf")
    assert [text for _, _, text in sections(document)] == ["9.6.4 LVM2", "Results", "A.1 It isn't so"]


def test_an_outline_that_leads_nowhere_or_back_changes_no_order(make_pdf: MakePdf) -> None:
    outline = [(0, "Second", 1), (0, "First", 0), (0, "Nowhere", 99)]
    document = read_pdf(with_outline(make_pdf(["First\ntext", "Second\ntext"]), outline), "a.pdf")
    assert [part.start for part in document.parts] == sorted(part.start for part in document.parts)
    assert "".join(document.content[part.start : part.end] for part in document.parts) == "First\ntextSecond\ntext"


def test_without_an_outline_larger_lines_are_headings(make_pdf: MakePdf) -> None:
    page = [
        (20, "Manual"),
        (15, "Filling"),
        *[(10, "Water is let in slowly.")] * 12,
        (15, "Emptying and"),
        (15, "rest"),
    ]
    document = read_pdf(make_pdf([], raw=[typeset([*page, *[(10, "Water is let out slowly.")] * 12])]), "a.pdf")
    assert [(path, text) for _, path, text in sections(document)] == [
        (("Manual",), "Manual"),
        (("Manual", "Filling"), "Filling"),
        (("Manual", "Emptying and rest"), "Emptying and"),
    ]


def test_sizes_that_much_of_the_text_has_are_no_headings(make_pdf: MakePdf) -> None:
    lines = [(10, "Small print runs here."), (10, "More small print."), (14, "A large sentence is here.")] * 5
    document = read_pdf(make_pdf([], raw=[typeset(lines)]), "a.pdf")
    assert {part.headings for part in document.parts} == {()}


def test_running_heads_and_page_numbers_are_in_the_content_and_in_no_part(make_pdf: MakePdf) -> None:
    pages = [f"Guide to pumps\nPage {number} tells of {word}.\n{number} / 9" for number, word in enumerate(WORDS, 1)]
    document = read_pdf(make_pdf(pages), "a.pdf")
    assert document.content == "\f".join(pages)
    kept = [document.content[part.start : part.end].strip() for part in document.parts]
    assert kept == [f"Page {number} tells of {word}." for number, word in enumerate(WORDS, 1)]


def test_what_is_furniture() -> None:
    words = ("One", "Two", "Three", "Four")
    numerals = ("i", "ii", "iii", "iv")
    roman = [f"Preface {number}\n{word} of the reasons" for number, word in zip(numerals, words, strict=True)]
    assert [page[slice(*spans[0])] for page, spans in zip(roman, headers_and_footers(roman), strict=True)] == [
        "Preface i\n",
        "Preface ii\n",
        "Preface iii\n",
        "Preface iv\n",
    ]
    data = ["12 7\nA", "99 3\nB", "41 8\nC", "40 1\nD"]
    assert headers_and_footers(data) == [[], [], [], []]
    tickets = [f"Ticket {number}: admits one, row {number}" for number in range(1, 9)]
    assert headers_and_footers(tickets) == [[]] * len(tickets)
    assert headers_and_footers([f"Layoff\n{word}\nLayoff" for word in WORDS]) == [[]] * len(WORDS)
    assert headers_and_footers(["Head\nA", "Head\nB"]) == [[], []]
    assert headers_and_footers(["", "", ""]) == [[], [], []]


def test_heads_that_change_and_numbers_that_count_the_pages() -> None:
    book = [
        (f"{number} The Manual" if number % 2 else f"{word} {number}") + f"\n{word} are sold by the maker.\nBuy {word}."
        for number, word in enumerate(("Pumps", "Filters", "Valves", "Seals", "Shafts", "Motors", "Wheels"), 8)
    ]
    assert [
        [page[slice(*span)] for span in spans] for page, spans in zip(book, headers_and_footers(book), strict=True)
    ] == [[page.split("\n")[0] + "\n"] for page in book]
    preface = [
        f"A preface on {word}\nand the making of {word}\n- {numeral} -"
        for word, numeral in zip(WORDS, "i ii iii iv v".split(), strict=True)
    ]
    assert [page[spans[0][0] :] for page, spans in zip(preface, headers_and_footers(preface), strict=True)] == [
        f"- {numeral} -" for numeral in ("i", "ii", "iii", "iv", "v")
    ]
    two = ["Chapter one begins here\n1 / 2", "and it ends here, on page 2\n2 / 2"]
    assert [page[spans[0][0] :] for page, spans in zip(two, headers_and_footers(two), strict=True)] == [
        "1 / 2",
        "2 / 2",
    ]


def test_headings_with_numbers_at_the_top_of_each_page_are_no_furniture() -> None:
    pages = [f"{number}. {word}\nThis is about {word} only." for number, word in enumerate(WORDS, 1)]
    assert headers_and_footers(pages) == [[]] * len(pages)


def test_numbers_of_lines_are_furniture_unless_they_are_few() -> None:
    numbers = "".join(f"{number}\n" for number in range(1, 26))
    page = f"{numbers}{BODY}\n{BODY}"
    (spans,) = headers_and_footers([page])
    assert "".join(page[slice(*span)] for span in spans) == numbers
    assert headers_and_footers([f"1\n2\n3\n{BODY}"]) == [[]]


def test_a_page_of_nothing_but_furniture_keeps_an_empty_part(make_pdf: MakePdf) -> None:
    document = read_pdf(make_pdf(["1", "2", "3\nText"]), "a.pdf")
    assert [(part.page, document.content[part.start : part.end].strip()) for part in document.parts] == [
        (1, ""),
        (2, ""),
        (3, "Text"),
    ]


WORDS = ("valves", "seals", "shafts", "motors", "filters")


def sections(document: Document) -> list[tuple[int | None, tuple[str, ...], str]]:
    """Page, path and first line of each section of a document."""
    found: list[tuple[int | None, tuple[str, ...], str]] = []
    before: tuple[str, ...] = ()
    for part in document.parts:
        if part.headings != before:
            found.append((part.page, part.headings, document.content[part.start : part.end].split("\n")[0]))
        before = part.headings
    return found


def typeset(lines: Sequence[tuple[int, str]]) -> bytes:
    """The drawing commands of lines, each of a size in points."""
    drawn = " ".join(f"/F1 {size} Tf ({line}) Tj 0 -20 Td" for size, line in lines)
    return f"BT 50 780 Td {drawn} ET".encode()


def with_outline(pdf: bytes, entries: Sequence[tuple[int, str, int]]) -> bytes:
    """The PDF with an outline of (level, title, page), as an update at its end."""
    first = int(re.search(rb"/Size (\d+)", pdf)[1])  # type: ignore[index]
    numbers = [first + 1 + place for place in range(len(entries))]
    parents = [_before(entries, place, level - 1) for place, (level, _, _) in enumerate(entries)]
    objects = {1: f"<</Type/Catalog/Pages 2 0 R/Outlines {first} 0 R>>", first: f"<<{_kids(parents, None, numbers)}>>"}
    for place, (_, title, page) in enumerate(entries):
        siblings = [other for other, parent in enumerate(parents) if parent == parents[place]]
        following = [numbers[other] for other in siblings if other > place][:1]
        parent = first if parents[place] is None else numbers[parents[place]]
        following_entry = f"/Next {following[0]} 0 R" if following else ""
        target = f"/Dest[{4 + 2 * page} 0 R/Fit]"
        objects[numbers[place]] = (
            f"<</Title({title})/Parent {parent} 0 R{target}{following_entry}{_kids(parents, place, numbers)}>>"
        )
    start = int(re.search(rb"startxref\n(\d+)", pdf)[1])  # type: ignore[index]
    table = ""
    for number, body in objects.items():
        table += f"{number} 1\n{len(pdf):010d} 00000 n \n"
        pdf += f"{number} 0 obj\n{body}\nendobj\n".encode()
    trailer = f"trailer<</Size {first + 1 + len(entries)}/Root 1 0 R/Prev {start}>>"
    return pdf + f"xref\n{table}{trailer}\nstartxref\n{len(pdf)}\n%%EOF".encode()


def _before(entries: Sequence[tuple[int, str, int]], place: int, level: int) -> int | None:
    return next((other for other in range(place - 1, -1, -1) if entries[other][0] == level), None)


def _kids(parents: Sequence[int | None], parent: int | None, numbers: Sequence[int]) -> str:
    kids = [numbers[place] for place, other in enumerate(parents) if other == parent]
    return f"/First {kids[0]} 0 R/Last {kids[-1]} 0 R/Count {len(kids)}" if kids else ""
