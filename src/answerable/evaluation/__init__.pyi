"""The public names of the package."""

from answerable.evaluation.evaluation import Plan as Plan
from answerable.evaluation.evaluation import evaluate_library as evaluate_library
from answerable.evaluation.report import SetReport as SetReport
