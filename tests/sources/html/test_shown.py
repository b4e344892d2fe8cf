"""What a page says by its form and not by its words: struck and raised text, notes, boxes, fields, merged cells."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest
from reading_here import read_file

from answerable.datatypes import DocumentType
from answerable.errors import EmptySource
from answerable.sources.html.read import read_html

LONG = "".join(
    f"<p>The orchard committee reported in the year {year} that the late apples had ripened well, and thanked everyone "
    "who had helped to pick, sort and store them before the first frost of that autumn.</p>"
    for year in range(1990, 2010)
)


def text_of(markup: str, head: str = "", before: str = "") -> str:
    """The text below the heading of a page."""
    main = f"<main><h1>Orchard</h1>{before}{markup}</main>"
    page = f"<html><head><title>Orchard</title>{head}</head><body>{main}</body></html>"
    return read_html(page, "orchard.html").content.partition("\n\n")[2]


@pytest.mark.parametrize("before", ["", LONG])
@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>A crate: <del>9 crowns</del> <ins>11 crowns</ins></p>", "A crate: ~~9 crowns~~ 11 crowns"),
        ("<p><s>Ladders</s> <strike> are lent </strike>here.</p>", "~~Ladders are lent~~ here."),
        ("<p>Juice <b style='text-decoration:line-through'>7</b> 8</p>", "Juice ~~7~~ 8"),
        ("<p>Juice <b class='was big'>7</b> 8 <i>9</i></p>", "Juice ~~7~~ 8 9"),
        ("<s><p>The press is open.</p><p>It is free.</p></s>", "~~The press is open.~~\n\n~~It is free.~~"),
        ("<p>Sugar 10<sup>4</sup> g, 10<sup>-2</sup> l, C<sub>6</sub>H<sub>12</sub></p>", "Sugar 10⁴ g, 10⁻² l, C₆H₁₂"),
        ("<p>The 2<sup>nd</sup> M<sup>lle</sup>, Cox<sup>®</sup>, 3<sup>2k</sup></p>", "The 2nd Mlle, Cox®, 3^(2k)"),
        ("<p>Open until <time>18:30</time> for <label>all</label> who come.</p>", "Open until 18:30 for all who come."),
        (
            "<dl><dt>Pears</dt><dd>in October</dd><dt>Plums</dt><dd>in July</dd></dl>",
            "Pears: in October\n\nPlums: in July",
        ),
    ],
)
def test_struck_raised_and_lowered_text(markup: str, expected: str, before: str) -> None:
    styles = "<style>p, /* } */ li{color:red} @media screen{.was, a:hover {text-decoration: line-through}}</style>"
    assert text_of(markup, styles, before).endswith(expected)


def test_numbers_of_items() -> None:
    markup = (
        "<ol type=a start=2><li>prune<ol type=I><li>pears</ol><li value=5>graft<li>mow</ol><ol><li value=x>rest</ol>"
    )
    assert text_of(markup) == "b. prune\n   I. pears\ne. graft\nf. mow\n\n1. rest"


@pytest.mark.parametrize(
    "notes",
    [
        "<p>Pickers<sup id=r7><a href='#n7'>7</a></sup> eat.</p><p id=n7><a href='#r7'>7</a>. Two apples a day.</p>",
        "<p>Pickers<sup><a href='#n7' id=r7>[7]</a></sup> eat.</p>"
        "<ol><li id=n7><b>^ <a href='#r7'>a</a></b> Two apples a day.</ol>",
        "<p>Pickers<a href='#n7' name=r7>[7]</a> eat.</p><p><a href='#r7' name=n7>[7]</a> Two apples a day.</p>",
        "<p>Pickers<sup>7</sup> eat.</p><p><sup>7</sup> Two apples a day.</p>",
    ],
)
@pytest.mark.parametrize("before", ["", LONG])
def test_notes_are_apart_from_the_text(notes: str, before: str) -> None:
    text = text_of(notes, before=before)
    assert text.endswith("Pickers[^7] eat.\n\n[^7]: Two apples a day.")


def test_a_unit_is_no_note() -> None:
    text = text_of("<p>Rows<sup>2</sup> of 40 m<sup>2</sup>.</p><p><sup>2</sup> In spring.</p><p><sup>3</sup> All.</p>")
    assert text == "Rows[^2] of 40 m².\n\n[^2]: In spring.\n\n³ All."


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<label><input type=checkbox checked> Baskets</label><label><input type=checkbox> Gloves</label>",
            "☒ Baskets\n☐ Gloves",
        ),
        (
            "<input type=checkbox id=a><label for=a>Baskets</label>"
            "<input type=checkbox id=b checked><label for=b>Gloves</label>",
            "☐ Baskets\n☒ Gloves",
        ),
        ("Baskets <input type=checkbox checked><br>Gloves <input type=checkbox>", "☒ Baskets\n☐ Gloves"),
        ("<input type=checkbox checked> Baskets<br><input type=checkbox> Gloves", "☒ Baskets\n☐ Gloves"),
        (
            "<p>Dogs: <label><input type=radio>yes</label><label><input type=radio checked>no</label>",
            "Dogs: ☐ yes ☒ no",
        ),
        ("<ul><li><input type=checkbox checked disabled> prune</ul>", "- ☒ prune"),
        ("<p role=checkbox aria-checked=true>Compost</p>", "☒ Compost"),
        (
            "<ul><li><div class='checkbox checkbox-on'></div> <s>weed</s><li><div class=checkbox-off></div> mow</ul>",
            "- ☒ ~~weed~~\n- ☐ mow",
        ),
        (
            "<label>Tree <select><option>fir<option selected>elm</select></label><label>Age: <input value=30></label>"
            "<label for=w>Owner</label><input id=w><label for=x>Remarks</label><textarea id=x>hollow</textarea>",
            "Tree: elm\nAge: 30\nOwner:\nRemarks: hollow",
        ),
        ("<p>Owner <input value='Eva Lund'> <input type=submit value=Send></p>", "Owner: Eva Lund"),
        (
            "<table><tr><th>Job</th><th>Done</th></tr><tr><td>Graft</td><td><input type=checkbox></td></tr></table>",
            "| Job | Done |\n| --- | --- |\n| Graft | ☐ |",
        ),
        ("<input type=checkbox id=menu><label for=menu></label><p>Open daily.</p>", "Open daily."),
    ],
)
def test_boxes_and_fields(markup: str, expected: str) -> None:
    assert text_of(f"<form>{markup}</form>") == expected


def test_a_form_on_a_long_page() -> None:
    form = (
        "<form><div><label for=w>Owner</label><input id=w value='Eva Lund'></div><fieldset><legend>Dogs</legend>"
        "<label><input type=radio> yes</label><label><input type=radio checked> no</label></fieldset></form>"
    )
    assert text_of(form, before=LONG).endswith("autumn.\n\nOwner: Eva Lund\n\nDogs\n\n☐ yes ☒ no")


@pytest.mark.parametrize("before", ["", LONG])
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "<tr><th rowspan=2>Sort<th colspan=2>Yield<tr><th>old<th>young<tr><td>Cox<td>41<td>17",
            "| Sort | Yield old | Yield young |\n| --- | --- | --- |\n| Cox | 41 | 17 |",
        ),
        (
            "<tr><td rowspan=2>Sort<td colspan=2>Yield<tr><td>old<td>young<tr><td>Cox<td>41<td>17",
            "| Sort | Yield old | Yield young |\n| --- | --- | --- |\n| Cox | 41 | 17 |",
        ),
        (
            "<tr><th>Field<th>Sort<th>Rows<tr><td rowspan=2>North<td>Cox<td>4<tr><td>Gala<td>6"
            "<tr><td>South<td colspan=2>none",
            "| Field | Sort | Rows |\n| --- | --- | --- |\n| North | Cox | 4 |\n| North | Gala | 6 |\n"
            "| South | none | none |",
        ),
        (
            "<tr><th>Field<th>Sort<tbody><tr><td rowspan=0>North<td>Cox<tr><td>Gala<tbody><tr><td>South<td>Cox",
            "| Field | Sort |\n| --- | --- |\n| North | Cox |\n| North | Gala |\n| South | Cox |",
        ),
        (
            "<tr><th colspan=3>Harvest<tr><th>Sort<th>Kilos<th>Days<tr><td>Cox<td>900<td>8",
            "Harvest\n\n| Sort | Kilos | Days |\n| --- | --- | --- |\n| Cox | 900 | 8 |",
        ),
        (
            "<tr><th>Day<th>Shifts<tr><td>Friday<td><ul><li>6 to 10<li>15 to 19</ul>",
            "| Day | Shifts |\n| --- | --- |\n| Friday | 6 to 10; 15 to 19 |",
        ),
        (
            "<tr><th><th>A<th>B<tr><th>1<td>Sort<td>Kilos<tr><th>2<td>Cox<td>900",
            "| Sort | Kilos |\n| --- | --- |\n| Cox | 900 |",
        ),
        (
            "<tr><th><th>A<th>B<tr><th>Kilos<td>40<td>38",
            "|  | A | B |\n| --- | --- | --- |\n| Kilos | 40 | 38 |",
        ),
    ],
)
def test_merged_cells_and_rows_of_names(rows: str, expected: str, before: str) -> None:
    assert text_of(f"<table>{rows}</table>", before=before).endswith(expected)


def test_text_that_its_style_hides_is_left_out_but_not_the_whole_page() -> None:
    assert text_of("<p style='display: none'>Secret.</p><p>Open to all who help in the autumn.</p>").startswith("Open")
    assert (
        text_of("<p>Open.</p><p style='visibility:hidden'>At <b style='visibility:visible'>nine</b></p>")[-4:] == "nine"
    )
    assert text_of("<div style='display:none'><p>Open to all who help in the autumn.</p></div>").startswith("Open")


@pytest.mark.parametrize("before", ["", LONG])
@pytest.mark.parametrize(
    ("style", "markup", "expected"),
    [
        (".old{display:none}", "<p>A crate: <b class='big old'>9 crowns</b> 11 crowns</p>", "A crate: 11 crowns"),
        (".a, #old {visibility: hidden}", "<p>A crate: <b id=old>9 crowns</b> 11 crowns</p>", "A crate: 11 crowns"),
        ("i{display:none}", "<p>A crate: <i>9 crowns</i> 11 crowns</p>", "A crate: 11 crowns"),
        ("", "<p style='visibility:hidden'>A crate: 9 crowns</p><p>A crate: 11 crowns</p>", "A crate: 11 crowns"),
        (
            ".b{display:inline} .b.old{display:none}",
            "<p><b class='b old'>9</b> <b class=b>11</b> crowns</p>",
            "11 crowns",
        ),
        (".was{display:none !important} .was{display:block}", "<p>Sorts</p><p class=was>9 crowns</p>", "Sorts"),
        (".was{display:block} .was{display:none}", "<p>Sorts</p><p class=was>9 crowns</p>", "Sorts"),
        (".was{display:none} .was p{display:block}", "<p>Sorts</p><div class=was><p>9 crowns</p></div>", "Sorts"),
        (".was{display:none} .menu > p{display:block}", "<p>Sorts</p><p class=was>9 crowns</p>", "Sorts"),
        # What may be shown is read.
        ("b{display:none} .open b{display:block}", "<p>Sorts</p><p><b>Gala</b></p>", "Gala"),
        (
            ".panel{display:none} #t1:checked ~ .panels .p1, #t2:checked ~ .p2{display:block}",
            "<div class=panels><p class='panel p1'>Flour</p></div><p class='panel p2'>Bake</p>",
            "Flour\n\nBake",
        ),
        (".panel{display:none} .on > [data-at].p1:not(.off){display:block}", "<p class='panel p1'>Jam</p>", "Jam"),
        (".was{visibility:hidden} .was b{visibility:visible}", "<p>Sorts</p><p class=was><b>Gala</b></p>", "Gala"),
        ("@media print{.i{color:red} .was{display:none}}", "<p>A <b class=was>crate</b></p>", "A crate"),
        ("@media screen{.was{display:none}}", "<p>A <b class=was>cheap</b> crate</p>", "A crate"),
        (
            ".tab{display:none} .tab.open{display:block}",
            "<p class=tab>Gala</p><p class='tab open'>Cox</p>",
            "Gala\n\nCox",
        ),
        (".more{display:none} #on:checked ~ .more{display:block}", "<p class=more>Gala</p>", "Gala"),
        ("#more{display:none}", "<p onclick='show(more)'>Sorts</p><p id=more>Gala</p>", "Sorts\n\nGala"),
        (".was{display:none} #now{display:block}", "<p>Sorts</p><p class=was id=now>Gala</p>", "Gala"),
        ("p.was{display:none} .now{display:block}", "<p>Sorts</p><p class='was now'>Gala</p>", "Gala"),
        (".was{display:none !important} #no{display:block}", "<p>Sorts</p><p class=was id=no>9 crowns</p>", "Sorts"),
        (".more{display:none}", "<p>Sorts</p><p class=more id=x>Gala</p><script>$('.more').show()</script>", "Gala"),
        (".more{display:none}", "<p>Sorts</p><p class=more>Gala</p><script src=app.js></script>", "Gala"),
        (".more{display:none}", "<p>Sorts</p><p class=more style='display:block'>Gala</p>", "Gala"),
    ],
)
def test_text_that_a_rule_of_the_page_hides_is_left_out(style: str, markup: str, expected: str, before: str) -> None:
    assert text_of(markup, f"<style>{style}</style>", before or "<p>Open to all who help.</p>").endswith(expected)
    assert text_of(markup, f"<style>{style}</style>", before).count("9 crowns") == 0


def test_what_stands_below_tabs_is_read_and_each_panel_has_its_label() -> None:
    tabs = "<div role=tablist><button role=tab>Hours</button><button role=tab>Prices</button></div>"
    panels = "<div role=tabpanel>From nine.</div><div role=tabpanel hidden><p>Four euros.</p></div>"
    expected = "Open to all.\n\nHours\n\nFrom nine.\n\nPrices\n\nFour euros.\n\nBring gloves."
    assert text_of(f"<p>Open to all.</p>{tabs}{panels}<p>Bring gloves.</p>") == expected


def test_a_page_that_a_rule_hides_until_a_script_shows_it_is_read() -> None:
    style = "<style>.wait{display:none}</style>"
    page = "<div class=wait><p>Open to all.</p><p class=wait>Bring gloves.</p></div>"
    assert text_of(page, style) == "Open to all.\n\nBring gloves."


@pytest.mark.parametrize("before", ["", LONG])
@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<ol><li value=7>Prune.<li>Graft.<li value=12>Pick.</ol>", "7. Prune.\n8. Graft.\n12. Pick."),
        ("<ol type=a><li>Prune.<li>Graft.</ol>", "a. Prune.\nb. Graft."),
        ("<ol type=i start=4><li>Prune.<li><p>Graft.</p></ol>", "iv. Prune.\nv. Graft."),
        ("<ol type=I start=4><li>Prune.<li>Graft.</ol>", "IV. Prune.\n\nV. Graft."),
        ("<ol style='list-style-type: lower-roman'><li>Prune.<li>Graft.</ol>", "i. Prune.\nii. Graft."),
        ("<ol reversed><li>Prune.<li>Graft.<li>Pick.</ol>", "3. Prune.\n2. Graft.\n1. Pick."),
        ("<ol start=3><li>Prune.<ol type=a><li>Apples<li>Pears</ol></ol>", "3. Prune.\n   a. Apples\n   b. Pears"),
    ],
)
def test_list_items_have_the_numbers_that_the_browser_shows(markup: str, expected: str, before: str) -> None:
    assert text_of(markup, before=before).endswith(expected)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<ruby>laurel<rt>hoja</rt></ruby> seco", "laurel (hoja) seco"),
        ("<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby>", "東京 (とうきょう)"),
    ],
)
def test_readings_of_words_are_behind_them(markup: str, expected: str) -> None:
    assert text_of(f"<p>{markup}</p>") == expected


SAVED = """From: <Saved by Blink>
Snapshot-Content-Location: https://orchard.example/press
Subject: The press
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="--edge"

----edge
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable
Content-Location: https://orchard.example/press

<html><head><meta charset=3D"utf-8"><title>The press</title></head><body><main><h1>The press</h1><p>Caf=C3=A9 =
opens at ten.</p></main></body></html>
----edge
Content-Type: text/css
Content-Location: cid:css-1@mhtml.blink

p { color: green; }
----edge
Content-Type: image/png
Content-Location: https://orchard.example/a.png
Content-Transfer-Encoding: base64

iVBORw0KGgo=
----edge--
"""


def test_a_page_saved_as_one_file_is_the_page_alone(tmp_path: Path) -> None:
    for name in ("press.mhtml", "press.mht"):
        file = tmp_path / name
        file.write_bytes(SAVED.replace("\n", "\r\n").encode())
        (document,) = read_file(file)
        assert document.content == "# The press\n\nCafé opens at ten."
        assert (document.type, document.title) == (DocumentType.HTML, "The press")
        assert document.metadata == {"url": "https://orchard.example/press"}
    file.write_bytes(SAVED.replace("text/html\n", "text/plain\n").encode())
    with pytest.raises(EmptySource, match="holds no page"):
        read_file(file)


MENU = "".join(
    f"<li><a href='/{number}'>Orchards of district {number} and their sorts</a></li>" for number in range(90)
)


@pytest.mark.parametrize(
    "page",
    [
        f"<div><ul>{MENU}</ul></div><main><h1>Cider</h1><p>The press runs on Saturday.</p></main>",
        f"<div><ul>{MENU}</ul></div><div><h1>Cider</h1><p>The press runs on Saturday.</p></div>",
        f"<main><h1>Cider</h1><p>The press runs on Saturday.</p></main><div><ul>{MENU}</ul></div>",
        f"<header><h1>Cider</h1><ul>{MENU}</ul></header><main><p>The press runs on Saturday.</p></main>",
    ],
)
def test_a_short_main_part_beside_long_menus(page: str) -> None:
    markup = f"<html><head><title>Cider</title></head><body>{page}</body></html>"
    assert read_html(markup, "cider.html").content == "# Cider\n\nThe press runs on Saturday."


@pytest.mark.parametrize(
    "markup",
    [
        "<s><b>" * 4_000 + "x",
        "<label for=a>x</label>" + "<input id=a value=1>" * 20_000,
        "<table>" + "<tr><td colspan=1000 rowspan=9999>x<td colspan=3>y" * 4_000,
        "<p>" + "word<sup>2</sup>" * 10_000 + "<p><sup>2</sup> note",
        "<style>" + "/*" * 50_000 + "{" * 50_000 + "</style><p>x",
    ],
)
def test_hostile_forms_take_little_time(markup: str) -> None:
    start = perf_counter()
    assert read_html(f"<p>text {markup}", "a.html").content
    assert perf_counter() - start < 10
