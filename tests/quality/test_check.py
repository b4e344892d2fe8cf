"""The check of models' answers, on scripted answers whose every label is known: what is caught, what is lost."""

from __future__ import annotations

from collections import Counter
from time import process_time

import pytest

from answerable.answering.checking.check import check_answer
from answerable.answering.checking.verdicts import CheckedAnswer, Support
from answerable.reading.e5_judge import E5Judge

from .harness import CACHE, in_the_gate
from .labelled_answers import AnswerMaker, LabelledAnswer

pytestmark = pytest.mark.quality

# Some 20 ms of CPU for each answer that is checked, and a score of answers for each question.
QUESTIONS = [("en", 60), ("es", 60), ("pt", 60), ("en", 300), ("es", 150), ("pt", 150)]
CAUGHT = 0.99
REJECTED = 0.02


def is_right(answer: LabelledAnswer, checked: CheckedAnswer) -> bool:
    """Whether the check did what it must: kept what is good and cited the right document, caught what is bad."""
    right = answer.passages[answer.right - 1].document.id
    kept = bool(checked.text) and not checked.removed
    cites_right = kept and {citation.document_id for citation in checked.citations} == {right}
    if answer.is_good:
        return cites_right
    if answer.is_true:
        corrected = any(sentence.support is Support.CORRECTED for sentence in checked.sentences)
        return not checked.text or (corrected and cites_right)
    return not checked.text


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("language", "questions"), in_the_gate(QUESTIONS, ("es", 60)))
def test_bad_answers_are_caught_and_good_ones_kept(language: str, questions: int) -> None:
    total: Counter[tuple[bool, str]] = Counter()
    right: Counter[tuple[bool, str]] = Counter()
    judge = E5Judge(cache_folder=CACHE / "models")
    seconds = 0.0
    for answer in AnswerMaker(language, questions).answers():
        before = process_time()
        checked = check_answer(answer.text, answer.passages, language, judge)
        seconds += process_time() - before
        for citation in checked.citations:
            document = next(one.document for one in answer.passages if one.document.id == citation.document_id)
            assert document.content[citation.start : citation.end] == citation.quote
        key = (answer.is_good, answer.kind)
        total[key] += 1
        right[key] += is_right(answer, checked)
    for is_good in (True, False):
        print(f"\n{language}, {'good: kept' if is_good else 'bad: caught'}")
        for key in (key for key in total if key[0] is is_good):
            print(f"  {key[1]:34} {right[key]:5} of {total[key]:5}  {right[key] / total[key]:.3f}")
    print(f"{1000 * seconds / sum(total.values()):.1f} ms of CPU per answer")
    kept, caught = (
        sum(right[key] for key in total if key[0] is is_good) / sum(total[key] for key in total if key[0] is is_good)
        for is_good in (True, False)
    )
    print(f"{language}: good ones rejected {1 - kept:.4f}, bad ones caught {caught:.4f}")
    assert caught >= CAUGHT
    assert 1 - kept <= REJECTED
