"""Embed text, locally or by a provider, with a cache of vectors."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
