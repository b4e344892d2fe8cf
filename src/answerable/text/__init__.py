"""Reading words: languages, sentences, the terms that are searched for and what each is worth."""

from typing import TYPE_CHECKING

from answerable.exports import exported_from

__all__ = [
    "document_language",
    "printable_line",
    "question_language",
    "question_words",
    "rarity",
    "sentence_spans",
    "term_weights",
]

if TYPE_CHECKING:
    from answerable.text.bm25 import rarity, term_weights
    from answerable.text.characters import printable_line
    from answerable.text.languages import document_language, question_language
    from answerable.text.sentences import sentence_spans
    from answerable.text.terms import question_words
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "document_language": "languages",
            "printable_line": "characters",
            "question_language": "languages",
            "question_words": "terms",
            "rarity": "bm25",
            "sentence_spans": "sentences",
            "term_weights": "bm25",
        },
    )
