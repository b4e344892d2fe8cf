"""The notation of struck, raised and lowered text, boxes and notes."""

from __future__ import annotations

import time

import pytest

from answerable.text.notation import LOWERED, PAGE, RAISED, STRUCK, marked, with_notes, written


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"a {marked('b ', STRUCK)} {marked('c', STRUCK)} d", "a ~~b c~~ d"),
        (marked(f"x{marked('2', RAISED)}", STRUCK) + marked(" y ", STRUCK) + "z", "~~x² y~~ z"),
        (marked("  ", STRUCK) + "a", "a"),
        (f"10{marked('-', RAISED)}{marked('3', RAISED)}", "10⁻³"),
        (
            f"3{marked('rd', RAISED)} n{marked('º', RAISED)} A{marked('TM', RAISED)} b{marked('*', RAISED)}",
            "3rd nº ATM b*",
        ),
        (
            f"a{marked('3x', RAISED)} b{marked('2,4', RAISED)} c{marked('see 3 below', RAISED)}",
            "a^(3x) b^(2,4) csee 3 below",
        ),
        (f"said{marked('[^1]', RAISED)}", "said[^1]"),
        (f"SO{marked('4', LOWERED)} p{marked('min', LOWERED)}", "SO₄ pmin"),
        (f"\uf0feYes \uf0a8 No ☐Perhaps {STRUCK[0]}", "☒ Yes ☐ No ☐ Perhaps"),
        (f"Ann Li\tSeite {PAGE} von {PAGE}", "Ann Li"),
        (f"Ann Li, page {PAGE}", "Ann Li, page"),
    ],
)
def test_marked_text_is_written(text: str, shown: str) -> None:
    assert written(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A fee³ of 5 km³ and 10³.³\n\n³ Net.", "A fee[^3] of 5 km³ and 10³.[^3]\n\n[^3]: Net."),
        ("Fees¹\n\nmore²\n\n1 One\n\n2 Two\n\n1 Again", "Fees[^1]\n\nmore[^2]\n\n[^1]: One\n\n[^2]: Two\n\n1 Again"),
        ("2 eggs\n\nbeaten²", "2 eggs\n\nbeaten²"),
        ("area²\n\n3 rooms", "area²\n\n3 rooms"),
    ],
)
def test_raised_numbers_with_a_note_below(text: str, shown: str) -> None:
    assert with_notes(text) == shown


def test_time_grows_with_the_text_only() -> None:
    begun = time.monotonic()
    for text in (STRUCK[0], RAISED[0] + "1", PAGE + " x ", "\t", f"{STRUCK[1]} {STRUCK[0]}", "word¹ "):
        written(text * 50_000 + PAGE)
        with_notes(text * 50_000 + "\n\n1 Note")
    assert time.monotonic() - begun < 10
