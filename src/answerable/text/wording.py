"""A text analysed for comparison, when first needed: words, stems, numbers, names and addresses."""

from __future__ import annotations

from functools import cached_property

from answerable.text.claims import Claim, find_claims, values_of
from answerable.text.find_quote import legible
from answerable.text.negation import folded_words
from answerable.text.terms import terms


class Wording:
    """A text in a language."""

    def __init__(self, text: str, language: str) -> None:
        self.text = legible(text)
        self.language = language

    @cached_property
    def claims(self) -> list[Claim]:
        """The numbers, months, names and addresses of the text."""
        return find_claims(self.text, self.language)

    @cached_property
    def values(self) -> frozenset[str]:
        """The values of all claims."""
        return values_of(self.claims)

    @cached_property
    def words(self) -> list[str]:
        """The words, in lower case and without most accents."""
        return [word for word, _, _ in folded_words(self.text)]

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of the words without stop words."""
        return frozenset(terms(self.text, self.language))

    @cached_property
    def compared(self) -> frozenset[str]:
        """What is compared between texts: stems of words, and the values of claims."""
        return frozenset(term for term in self.terms if not term[:1].isdigit()) | self.values
