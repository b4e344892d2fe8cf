"""Forms in PDFs: each value stands beside the label that is next to it on the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from answerable.datatypes import Document
from answerable.sources.pdf.extraction import rectangles
from answerable.sources.pdf.read import page_spans, read_pdf

MakePdf = Callable[..., bytes]


def test_values_follow_the_labels_on_their_left(make_pdf: MakePdf) -> None:
    page = texts((50, 700, "Order of seeds"), (50, 660, "Gardener:"), (300, 660, "Plot"), (50, 620, "Bed length"))
    notes = [text("a", "Marta Quint", 120, 655), text("b", "", 340, 655), text("c", "3.5", 120, 615)]
    page += texts((250, 620, "metres"), (50, 580, "Thank you"))
    assert read(make_pdf, page, notes).content == (
        "Order of seeds\nGardener: Marta Quint Plot:\nBed length 3.5 metres\nThank you"
    )


def test_values_follow_labels_above_them(make_pdf: MakePdf) -> None:
    page = texts((50, 700, "First name"), (300, 700, "Family name"), (50, 650, "Signed on paper"))
    notes = [text("a", "Ines", 50, 680), text("b", "Roth", 300, 680)]
    assert read(make_pdf, page, notes).content == "First name: Ines Family name: Roth\nSigned on paper"


@pytest.mark.parametrize("shift", [-20, 90])
def test_boxes_stand_before_their_labels(make_pdf: MakePdf, shift: int) -> None:
    labels = ["Compost", "Tools", "Water"]
    page = texts((50, 740, "Wanted:"), *((200 + 150 * place, 740, label) for place, label in enumerate(labels)))
    notes = [box(str(place), place == 1, 200 + 150 * place + shift, 738) for place in range(3)]
    assert read(make_pdf, page, notes).content == "Wanted: ☐ Compost ☒ Tools ☐ Water"


def test_a_box_takes_the_place_of_the_colon_that_leads_to_it(make_pdf: MakePdf) -> None:
    page = texts((50, 740, "Key returned:"), (50, 700, "Deposit paid back:"))
    notes = [box("a", True, 200, 738), box("b", False, 200, 698)]
    assert read(make_pdf, page, notes).content == "☒ Key returned\n☐ Deposit paid back"


def test_boxes_in_columns_have_the_names_above_them(make_pdf: MakePdf) -> None:
    rows = [(700, "Dogs come along"), (670, "Tents are brought")]
    notes = [
        box(f"{column} {y}", (column == 0) == (y == 700), 50 + 50 * column, y) for y, _ in rows for column in (0, 1)
    ]
    page = texts((48, 730, "Yes"), (98, 730, "No"), *((150, y + 2, question) for y, question in rows))
    assert read(make_pdf, page, notes).content == ("Yes No\nDogs come along: ☒ Yes ☐ No\nTents are brought: ☐ Yes ☒ No")
    # Without names, the boxes could be about anything.
    nameless = texts(*((150, y + 2, question) for y, question in rows))
    assert read(make_pdf, nameless, notes).content == "Dogs come along\nTents are brought"


def test_of_radio_buttons_and_choices_the_chosen_one_is_read(make_pdf: MakePdf) -> None:
    page = texts((50, 740, "Delivery:"), (150, 740, "by cart"), (250, 740, "by van"), (50, 700, "Day:"))
    radio = "/Subtype/Widget/FT/Btn/Ff 32768/T(way)/V/van/AP<</N<</{0}<<>>/Off<<>>>>>>"
    notes = [
        radio.format("cart") + "/AS/Off" + rectangle(200, 738, 12),
        radio.format("van") + "/AS/van" + rectangle(300, 738, 12),
        "/Subtype/Widget/FT/Ch/Ff 131072/T(day)/Opt[[(1)(Monday)][(2)(Friday)]]/V(2)" + rectangle(100, 695, 80),
    ]
    assert read(make_pdf, page, notes).content == "Delivery: ☐ by cart ☒ by van\nDay: Friday"


def test_a_field_without_a_label_has_a_line_where_it_is(make_pdf: MakePdf) -> None:
    page = texts((50, 740, "Remarks of the warden"), (50, 500, "End"))
    notes = [
        text("a", "Hedge cut twice", 50, 600),
        text("b", "", 50, 560),
        text("c", "May", 300, 560) + "/TU(Month of the visit)",
        text("d", "unseen", 50, 540).replace("/Subtype", "/F 2/Subtype"),
        text("e", "1234", 50, 520) + "/Ff 8192",
    ]
    content = read(make_pdf, page, notes).content
    assert content == "Remarks of the warden\nHedge cut twice\nMonth of the visit: May\nEnd"


def test_a_page_of_nothing_but_fields_has_their_values(make_pdf: MakePdf) -> None:
    notes = [text("a", "Ines", 50, 680), text("b", "", 300, 680), box("c", False, 50, 600) + "/TU(Paid)"]
    assert read(make_pdf, b"", notes).content == "Ines\n"


def test_the_rectangle_of_a_value_is_that_of_its_field(make_pdf: MakePdf) -> None:
    page = texts((50, 700, "Gardener:"), (50, 660, "Bed 7"))
    data = make_pdf([], raw=[page], notes=[text("a", "Marta Quint", 120, 695), box("b", True, 30, 658)])
    document = read_pdf(data, "a.pdf")
    assert document.content == "Gardener: Marta Quint\n☒ Bed 7"

    def under(words: str) -> list[tuple[int, ...]]:
        start = document.content.index(words)
        spans = page_spans(document.content, [(start, start + len(words))])
        return [tuple(map(round, each)) for each in rectangles(data, "a.pdf", spans)]

    assert under("Marta") == [(1, 120, 695, 220, 711)]
    assert under("☒") == [(1, 30, 658, 42, 670)]
    (label,) = under("Gardener")
    assert label[1] in (50, 51)
    assert label[3] < 120
    (label,) = under("Bed 7")
    assert label[3] < 100


def test_fields_beyond_the_limit_stay_where_they_are_drawn(make_pdf: MakePdf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("answerable.sources.pdf.fields.MOST_FIELDS", 1)
    page = texts((50, 700, "Bed:"), (50, 660, "Row:"))
    notes = [text("a", "7", 120, 695), text("b", "9", 120, 655)]
    assert read(make_pdf, page, notes).content == "Bed: 7\nRow:\n9"


def read(make_pdf: MakePdf, page: bytes, notes: Sequence[str]) -> Document:
    return read_pdf(make_pdf([], raw=[page], notes=notes), "a.pdf")


def texts(*pieces: tuple[float, float, str]) -> bytes:
    """The drawing commands of texts at their places, in 12 points."""
    return "".join(f"BT /F1 12 Tf {x} {y} Td ({shown}) Tj ET\n" for x, y, shown in pieces).encode("cp1252")


def rectangle(left: float, bottom: float, width: float, height: float = 12) -> str:
    return f"/Rect[{left} {bottom} {left + width} {bottom + height}]"


def text(name: str, value: str, left: float, bottom: float) -> str:
    return f"/Subtype/Widget/FT/Tx/T({name})/V({value})" + rectangle(left, bottom, 100, 16)


def box(name: str, is_ticked: bool, left: float, bottom: float) -> str:
    state = "Yes" if is_ticked else "Off"
    shown = f"/Subtype/Widget/FT/Btn/T({name})/V/{state}/AS/{state}/AP<</N<</Yes<<>>/Off<<>>>>>>"
    return shown + rectangle(left, bottom, 12)
