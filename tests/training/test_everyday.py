"""The questions about everyday papers that the reader learns from."""

from __future__ import annotations

from pathlib import Path

from training.everyday import DAY, as_file, documents, is_held_out

import answerable
from answerable.datatypes import DocumentType


def test_answers_stand_in_the_passages_that_they_are_said_to_be_in() -> None:
    papers = list(documents())
    asked = [(paper, each) for paper in papers for each in paper["questions"]]
    assert len({paper["document"] for paper in papers}) == len(papers)
    assert all(each["answer"] in paper["passages"][each["passage"]] for paper, each in asked)
    assert 0.2 < sum(not each["answer"] for _, each in asked) / len(asked) < 0.4


def test_some_papers_are_only_measured() -> None:
    held_out = [is_held_out(paper) for paper in documents()]
    assert 0.1 < sum(held_out) / len(held_out) < 0.3


def test_papers_are_read_as_the_files_that_they_would_be(tmp_path: Path) -> None:
    for number, paper in enumerate(documents()):
        name, text = as_file(paper)
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(text, "utf-8")
        (document,) = answerable.read(folder / name)
        is_chat = all(map(DAY.match, paper["passages"]))
        assert document.type is (DocumentType.CHAT if is_chat else DocumentType.MARKDOWN)
