"""Find the chunks for a question: search by meaning and by keyword, and fuse the results."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
