"""Numbers as lists show them: `4`, `d`, `IV`."""

from __future__ import annotations

SHAPES = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
"""Word's names of formats of numbers, by their names in HTML and OpenDocument."""
# What the Roman numerals below are worth.
_WORTH = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
_ROMAN = tuple(zip("M CM D CD C XC L XL X IX V IV I".split(), _WORTH, strict=True))
_MOST_ROMAN = 3_999  # beyond, these numerals have no common form
_MOST_LETTERS = 780  # Word's own limit: 30 letters


def number_text(number: int, shape: str) -> str:
    """Return a number as Word shows it in this format; in digits for formats that are spelled out."""
    if shape in ("none", "bullet"):
        return ""
    if shape == "decimalZero":
        return f"{number:02}"
    text = str(number)
    if shape.endswith("Letter") and 0 < number <= _MOST_LETTERS:
        # After Z come AA, BB, CC.
        text = chr(ord("A") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif shape.endswith("Roman") and 0 < number <= _MOST_ROMAN:
        text = ""
        for numeral, worth in _ROMAN:
            text += numeral * (number // worth)
            number %= worth
    return text.lower() if shape.startswith("lower") else text
