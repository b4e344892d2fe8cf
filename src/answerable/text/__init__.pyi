"""The public names of the package."""

from answerable.text.characters import printable_line as printable_line
from answerable.text.languages import document_language as document_language
from answerable.text.languages import question_language as question_language
from answerable.text.sentences import sentence_spans as sentence_spans
from answerable.text.terms import question_words as question_words
from answerable.text.terms import rarity as rarity
from answerable.text.terms import term_weights as term_weights
