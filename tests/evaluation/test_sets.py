"""Test question sets in BEIR's layout: what is read, what is left out, and the errors on other folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_sets import make_set, write_set

from answerable.errors import SourceError
from answerable.evaluation.sets import Query, QuestionSet

CORPUS = [
    {"_id": "a", "title": "Cats", "text": "Cats purr."},
    {"_id": "b", "text": "Dogs bark."},
    {"_id": "empty", "title": "Nothing", "text": " "},
]
QUERIES = [
    {"_id": 1, "text": "What do cats do?", "answers": ["purr"]},
    {"_id": 2, "text": "What do dogs do?"},
    {"_id": 3, "text": "What do cows do?", "answerable": False, "paragraph": "a"},
    {"_id": 4, "text": "What do sheep do?"},
    {"_id": 5, "text": "What is empty?"},
]
GRADES = [("1", "a", 2), ("1", "b", 0), ("2", "b", 1), ("4", "elsewhere", 1), ("5", "empty", 1), ("2", "elsewhere", 1)]


def test_documents_questions_and_answers(tmp_path: Path) -> None:
    found = QuestionSet.load(write_set(tmp_path / "pets", CORPUS, QUERIES, GRADES))
    assert found.name == "pets"
    assert [(each.id, each.title, each.content) for each in found.documents] == [
        ("a", "Cats", "Cats purr."),
        ("b", "", "Dogs bark."),
    ]
    # Neither a question about an empty document nor one about a document that isn't there can be asked.
    assert found.queries == [
        Query("1", "What do cats do?", ("purr",), {"a": 2}),
        Query("2", "What do dogs do?", (), {"b": 1}),
    ]
    assert found.unanswerable == [Query("3", "What do cows do?", (), {"a": 0})]
    assert QuestionSet.load(tmp_path / "pets", "named").name == "named"


def test_empty_lines_and_letters_of_any_script(tmp_path: Path) -> None:
    folder = write_set(
        tmp_path, [{"_id": "ñ", "text": "日本語\u2028¿Sí?"}], [{"_id": "q", "text": "é"}], [("q", "ñ", 1)]
    )
    with (folder / "corpus.jsonl").open("a") as corpus:
        corpus.write("\n  \n")
    found = QuestionSet.load(folder)
    assert [each.content for each in found.documents] == ["日本語\u2028¿Sí?"]
    assert found.queries[0].relevant == {"ñ": 1}


def _without(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def _with(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_without("corpus.jsonl"), "No such file"),
        (_without("queries.jsonl"), "No such file"),
        (_without("qrels/test.tsv"), "No such file"),
        (_with("corpus.jsonl", b"{"), "JSONDecodeError"),
        (_with("corpus.jsonl", b"[1]\n"), "TypeError"),
        (_with("corpus.jsonl", b'{"_id": "a"}\n'), "KeyError('text')"),
        (_with("corpus.jsonl", b"\xff\xfe"), "UnicodeDecodeError"),
        (_with("queries.jsonl", b'"question"\n'), "TypeError"),
        (_with("queries.jsonl", b'{"text": "?"}\n'), "KeyError('_id')"),
        (_with("queries.jsonl", b'{"_id": 1, "text": "?", "answers": 5}\n'), "TypeError"),
        (_with("qrels/test.tsv", b"names\n1 a 1\n"), "ValueError"),
        (_with("qrels/test.tsv", b"names\n1\ta\tmuch\n"), "ValueError"),
    ],
)
def test_a_folder_that_is_no_set(tmp_path: Path, damage: Callable[[Path], object], said: str) -> None:
    folder = write_set(tmp_path / "pets", CORPUS, QUERIES, GRADES)
    damage(folder)
    with pytest.raises(SourceError) as raised:
        QuestionSet.load(folder)
    message = str(raised.value)
    assert message.startswith(f"{folder} is not a question set in BEIR's layout")
    assert said in message
    assert message.endswith("qrels/test.tsv (query, document, grade; with a header).")


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_set_without_a_question_to_ask(tmp_path: Path, name: str) -> None:
    folder = make_set(tmp_path, 2, "sea")
    (folder / name).write_text("")
    with pytest.raises(SourceError, match="no question with a relevant document"):
        QuestionSet.load(folder)
