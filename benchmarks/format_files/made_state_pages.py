"""Pages, notes and forms with states: HTML, Markdown, Rich Text Format and PDF."""

from __future__ import annotations

from sources.conftest import build_pdf

from format_files.made_states import EMPTY, TICKED
from format_files.sample import Sample, State


def page_states() -> list[Sample]:
    """Files that are no office documents."""
    return [_html(), _markdown(), _rtf(), _pdf()]


_HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Orchard</title>
<style>.was { text-decoration: line-through }</style></head><body><main>
<h1>Orchard</h1>
<p>A crate costs <del>9 crowns</del> <ins>11 crowns</ins>, and <s>ladders are lent</s>.</p>
<p>Juice is <span class="was">7 crowns</span> 8 crowns.</p>
<p>The rules go on from the last page:</p>
<ol start="4"><li>Pick no green apples.</li><li>Close the gate behind you.</li></ol>
<ol type="a"><li>Bring a basket.</li><li>Wear old shoes.</li></ol>
<ol><li>Prune in winter.</li><li value="9">Graft in spring.</li></ol>
<p>The press holds 10<sup>4</sup> grams, with traces of H<sub>2</sub>O, over 40 m<sup>2</sup>.</p>
<p>Pickers eat<sup id="r7"><a href="#n7">7</a></sup> for nothing.</p>
<form>
<p><label><input type="checkbox" checked> Baskets</label></p>
<p><label><input type="checkbox"> Gloves</label></p>
<p>Lunch: <label><input type="radio" name="l"> soup</label>
<label><input type="radio" name="l" checked> bread</label></p>
<p><label>Owner: <input value="Eva Lund"></label></p>
<p><label>Tree <select><option>fir</option><option selected>elm</option></select></label></p>
<p><label for="r">Remarks</label> <textarea id="r">hollow trunk</textarea></p>
</form>
<p id="n7"><a href="#r7">7</a>. Two apples a day.</p>
</main></body></html>
"""


def _html() -> Sample:
    states = (
        State("struck", "9 crowns"),
        State("struck", "ladders are lent"),
        State("struck", "7 crowns"),
        State("number", "Pick no green apples.", "4"),
        State("number", "Close the gate behind you.", "5"),
        State("number", "Bring a basket.", "a"),
        State("number", "Wear old shoes.", "b"),
        State("number", "Prune in winter.", "1"),
        State("number", "Graft in spring.", "9"),
        State("raised", "holds 10", "4"),
        State("lowered", "H", "2"),
        State("raised", "40 m", "2"),
        State("note", "Pickers eat", "Two apples a day."),
        State("box", "Baskets", TICKED),
        State("box", "Gloves", EMPTY),
        State("box", "soup", EMPTY),
        State("box", "bread", TICKED),
        State("field", "Owner", "Eva Lund"),
        State("field", "Tree", "elm"),
        State("field", "Remarks", "hollow trunk"),
    )
    return Sample("orchard.html", "html", (), _HTML.encode(), states=states)


_MARKDOWN = """# Move

The van costs ~~80 euros~~ 95 euros, and ~~help is free~~.

- [x] Boxes packed
- [ ] Keys handed over
- [X] Meter read

7. Empty the cellar.
8. Sweep the stairs.

The lift carries 10^3^ kilograms. The street is closed[^1] at noon.

[^1]: Until four.
"""


def _markdown() -> Sample:
    states = (
        State("struck", "80 euros"),
        State("struck", "help is free"),
        State("box", "Boxes packed", TICKED),
        State("box", "Keys handed over", EMPTY),
        State("box", "Meter read", TICKED),
        State("number", "Empty the cellar.", "7"),
        State("number", "Sweep the stairs.", "8"),
        State("raised", "carries 10", "3"),
        State("note", "The street is closed", "Until four."),
    )
    return Sample("move.md", "md", (), _MARKDOWN.encode(), states=states)


_RTF = r"""{\rtf1\ansi\deff0{\fonttbl{\f0 Arial;}}
\pard A boat is {\strike 20 euros} 25 euros an hour.\par
\pard {\strike Oars are included.}\par
\pard {\listtext 2.1\tab}Rowing is allowed till dusk.\par
\pard {\listtext 2.2\tab}Swimming is not.\par
\pard {\listtext (b)\tab}Children wear vests.\par
\pard The lake holds 10{\super 9} litres of H{\sub 2}O.\par
}"""


def _rtf() -> Sample:
    states = (
        State("struck", "20 euros"),
        State("struck", "Oars are included."),
        State("number", "Rowing is allowed till dusk.", "2.1"),
        State("number", "Swimming is not.", "2.2"),
        State("number", "Children wear vests.", "b"),
        State("raised", "holds 10", "9"),
        State("lowered", "H", "2"),
    )
    return Sample("lake.rtf", "rtf", (), _RTF.encode(), states=states)


def _texts(*pieces: tuple[float, float, str]) -> bytes:
    return "".join(f"BT /F1 12 Tf {x} {y} Td ({text}) Tj ET\n" for x, y, text in pieces).encode("cp1252")


def _box(name: str, is_ticked: bool, bottom: float) -> str:
    state = "Yes" if is_ticked else "Off"
    shown = f"/Subtype/Widget/FT/Btn/T({name})/V/{state}/AS/{state}/AP<</N<</Yes<<>>/Off<<>>>>>>"
    return f"{shown}/Rect[50 {bottom} 62 {bottom + 12}]"


def _field(name: str, value: str, bottom: float) -> str:
    return f"/Subtype/Widget/FT/Tx/T({name})/V({value})/Rect[150 {bottom} 300 {bottom + 16}]"


def _pdf() -> Sample:
    page = _texts(
        (50, 740, "Order of seeds"),
        (50, 700, "Gardener:"),
        (50, 670, "Plot:"),
        (50, 640, "Delivery:"),
        (70, 600, "Compost wanted"),
        (70, 575, "Tools wanted"),
        (70, 550, "Water is paid"),
        (70, 525, "Hut is rented"),
        (50, 480, "Seeds cost"),
        (115, 480, "40 euros"),
        (170, 480, "45 euros a bag."),
        (50, 455, "Pots are lent out."),
    )
    lines = b"115 483.5 m 162 483.5 l S 50 458.5 m 148 458.5 l S\n"
    raised = (
        b"BT 50 420 Td /F1 12 Tf (A bag holds 10) Tj /F1 8 Tf 5 Ts (4) Tj /F1 12 Tf 0 Ts ( grains in 3 m) Tj "
        b"/F1 8 Tf 5 Ts (2) Tj /F1 12 Tf 0 Ts ( of beds.) Tj ET\n"
        b"BT 50 395 Td /F1 12 Tf (Air needs CO) Tj /F1 8 Tf -2 Ts (2) Tj /F1 12 Tf 0 Ts ( for plants.) Tj ET\n"
        b"BT 50 370 Td /F1 12 Tf (They last six years) Tj /F1 8 Tf 5 Ts (1) Tj /F1 12 Tf 0 Ts ( in a shed.) Tj ET\n"
        b"BT 50 100 Td /F1 5 Tf 3 Ts (1) Tj /F1 8 Tf 0 Ts ( If they are kept dry.) Tj ET\n"
    )
    notes = [
        _field("a", "Marta Quint", 695),
        _field("b", "12 by the pump", 665),
        _field("c", "by cart", 635),
        *(_box(f"box{place}", place % 2 == 0, 598 - 25 * place) for place in range(4)),
    ]
    states = (
        State("field", "Gardener", "Marta Quint"),
        State("field", "Plot", "12 by the pump"),
        State("field", "Delivery", "by cart"),
        State("box", "Compost wanted", TICKED),
        State("box", "Tools wanted", EMPTY),
        State("box", "Water is paid", TICKED),
        State("box", "Hut is rented", EMPTY),
        State("struck", "40 euros"),
        State("struck", "Pots are lent out."),
        State("raised", "holds 10", "4"),
        State("raised", "3 m", "2"),
        State("lowered", "CO", "2"),
        State("note", "They last six years", "If they are kept dry."),
    )
    return Sample("seeds.pdf", "pdf", (), build_pdf([], raw=[page + lines + raised], notes=notes), states=states)
