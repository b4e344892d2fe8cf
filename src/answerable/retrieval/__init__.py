"""Question → chunks: by meaning and by keyword, both fused."""

from typing import TYPE_CHECKING

from answerable.exports import exported_from

__all__ = [
    "analyze_question",
    "fuse",
]

if TYPE_CHECKING:
    from answerable.retrieval.hybrid import fuse
    from answerable.retrieval.question import analyze_question
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "analyze_question": "question",
            "fuse": "hybrid",
        },
    )
