"""The public names of the package."""

from answerable.answering.checking.check import check_answer as check_answer
from answerable.answering.safety.characters import visible as visible
from answerable.answering.safety.fencing import harmless as harmless
