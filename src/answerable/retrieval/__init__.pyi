"""The public names of the package."""

from answerable.retrieval.hybrid import fuse as fuse
from answerable.retrieval.question import analyze_question as analyze_question
