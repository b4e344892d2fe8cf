"""The public names of the package."""

from answerable.answering.checking.check import check_answer as check_answer
from answerable.answering.safety.fencing import harmless as harmless
from answerable.answering.safety.output import clean_output as clean_output
