"""Results → answers: prompts, answerers, and the check of what a model wrote."""

from answerable.exports import exported_from

__getattr__, __dir__, __all__ = exported_from(__name__, __file__)
