"""Measure on question sets how well the engine finds, answers and refuses, and fit refusal gates."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
