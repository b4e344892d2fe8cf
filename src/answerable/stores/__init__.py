"""Stores of documents, chunks and vectors: in memory, in a folder, on PostgreSQL or on Qdrant."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
