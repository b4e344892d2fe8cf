"""Where documents come from: files, folders, archives, chats, PDF, Markdown, web, office, e-books, code, records."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
