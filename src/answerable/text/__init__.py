"""Reading words: languages, sentences, the terms that are searched for and what each is worth."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
