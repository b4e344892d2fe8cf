"""Write answers from evidence: quotes or a model's text, refusals, and the check of what a model writes."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
