"""The public names of the package."""

from answerable.retrieval.hybrid import DENSE_WEIGHT as DENSE_WEIGHT
from answerable.retrieval.hybrid import fuse as fuse
from answerable.retrieval.retriever import analyze_question as analyze_question
from answerable.retrieval.retriever import count_held as count_held
from answerable.retrieval.retriever import exact_first as exact_first
from answerable.retrieval.retriever import exact_texts as exact_texts
