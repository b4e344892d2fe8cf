"""Chunks and vectors, kept in memory or in a folder, and found again."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
