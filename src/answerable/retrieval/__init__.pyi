"""The public names of the package."""

from answerable.retrieval.exact import count_held as count_held
from answerable.retrieval.exact import exact_texts as exact_texts
from answerable.retrieval.exact import lift as lift
from answerable.retrieval.hybrid import DENSE_WEIGHT as DENSE_WEIGHT
from answerable.retrieval.hybrid import fuse as fuse
from answerable.retrieval.question import analyze_question as analyze_question
