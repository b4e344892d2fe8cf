"""Results → answers: prompts, answerers, and the check of what a model wrote."""

from typing import TYPE_CHECKING

from answerable.exports import exported_from

__all__ = [
    "check_answer",
    "clean_output",
    "harmless",
]

if TYPE_CHECKING:
    from answerable.answering.checking.check import check_answer
    from answerable.answering.safety.fencing import harmless
    from answerable.answering.safety.output import clean_output
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "check_answer": "checking.check",
            "clean_output": "safety.output",
            "harmless": "safety.fencing",
        },
    )
