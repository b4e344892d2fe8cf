"""Evidence → answers: extractive and model answers, the refusal gate, the check of model answers."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
