"""The questions about everyday papers that the reader learns from."""

from __future__ import annotations

from training.everyday import documents, is_held_out


def test_answers_stand_in_the_passages_that_they_are_said_to_be_in() -> None:
    papers = list(documents())
    asked = [(paper, each) for paper in papers for each in paper["questions"]]
    assert len({paper["document"] for paper in papers}) == len(papers)
    assert all(each["answer"] in paper["passages"][each["passage"]] for paper, each in asked)
    assert 0.2 < sum(not each["answer"] for _, each in asked) / len(asked) < 0.4


def test_some_papers_are_only_measured() -> None:
    held_out = [is_held_out(paper) for paper in documents()]
    assert 0.1 < sum(held_out) / len(held_out) < 0.3
