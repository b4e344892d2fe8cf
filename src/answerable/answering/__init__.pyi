"""The public names of the package."""

from answerable.answering.ask import quote_from as quote_from
from answerable.answering.checking.check import check_answer as check_answer
from answerable.answering.decide import Answering as Answering
from answerable.answering.follow_ups import completed as completed
from answerable.answering.found import Found as Found
from answerable.answering.prompt import harmless as harmless
from answerable.answering.prompt import visible as visible
