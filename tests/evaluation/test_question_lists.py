"""Test reading question lists as people and spreadsheets write them, and the errors on broken lists."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.disk.files import source_of
from answerable.errors import AnswerableError, SourceError
from answerable.evaluation.question_lists import Listed, find_documents, read_questions
from answerable.protocols import StoredDocument


def read(folder: Path, content: str | bytes, name: str = "questions.csv") -> list[Listed]:
    """The list in a file with this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_questions(path)


def test_columns_go_by_name(tmp_path: Path) -> None:
    content = (
        "Notes,Expected Answer,QUESTION,document,type,language,id\n"
        'mine,"24 months | two years",How long is the warranty?,guide.md | faq.md,fact,en,q1\n'
        ",,Who wrote it?,guide.md,,,\n"
        ",unanswerable,What is the meaning of life?,,,,\n"
    )
    first, second, third = read(tmp_path, content)
    assert first == Listed(
        2,
        "q1",
        "How long is the warranty?",
        ("24 months", "two years"),
        ("guide.md", "faq.md"),
        False,
        "en",
        "fact",
    )
    assert (second.line, second.id, second.answers, second.documents) == (3, "line 3", (), ("guide.md",))
    assert (second.language, second.type) == ("en", "other")
    assert third.is_unanswerable
    assert third.answers == third.documents == ()


def test_what_spreadsheets_write(tmp_path: Path) -> None:
    rows = [
        ["pregunta", "respuesta", "sin respuesta"],
        ["¿Cuánto cuesta la inscripción?", "36 €, al año; o 3", ""],
        ["", "", ""],
        ["¿Quién ganó\nla copa?", "", "sí"],
    ]
    path = tmp_path / "lista.csv"
    for written in itertools.product(("utf-8", "utf-8-sig", "utf-16", "cp1252"), (",", ";", "\t"), ("\n", "\r\n")):
        encoding, delimiter, newline = written
        with path.open("w", encoding=encoding, newline="") as file:
            csv.writer(file, delimiter=delimiter, lineterminator=newline).writerows(rows)
        first, second = read_questions(path)
        assert (first.text, first.answers, first.language) == (rows[1][0], (rows[1][1],), "es"), written
        assert (second.text, second.is_unanswerable, second.line) == ("¿Quién ganó la copa?", True, 4), written


def test_portuguese_names_and_a_declared_delimiter(tmp_path: Path) -> None:
    (only,) = read(tmp_path, "sep=;\npergunta;resposta;arquivo\nQuem escreveu o livro?;Machado;livro.pdf\n")
    assert (only.language, only.answers, only.documents) == ("pt", ("Machado",), ("livro.pdf",))


@pytest.mark.parametrize("as_list", [False, True])
def test_json(tmp_path: Path, as_list: bool) -> None:
    records = [
        {"question": "Where?", "answers": ["here", "there"], "document": "a.md", "extra": {"x": 1}},
        {"query": "How many?", "answer": 5, "_id": 7},
        {"question": "Why?", "answerable": False, "answers": []},
    ]
    content = json.dumps(records) if as_list else "\n\n".join(map(json.dumps, records))
    first, second, third = read(tmp_path, content, "q.jsonl")
    assert (first.answers, first.documents) == (("here", "there"), ("a.md",))
    assert (second.id, second.answers, second.type) == ("7", ("5",), "other")
    assert third.is_unanswerable


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no column called question"),
        ("\n\n", "no column called question"),
        ("question,answer\n", "has no question"),
        ("answer,document\na,b\n", "no column called question"),
        ("question,answer\nWhy?,because\n,yes\n", "line 3: the question is missing"),
        ("question,answer\nWhy?,\n", "line 2: it has neither an expected answer nor a document"),
        ("question,answer,unanswerable\nWhy?,because,yes\n", "line 2: it has an expected answer but is marked"),
        ("question,unanswerable\nWhy?,perhaps\n", "line 2: 'perhaps' is neither yes nor no"),
        ("question,answer\nWhy?,it is so, they say\n", "line 2 has 3 cells, the first line 2"),
        ('question,answer\n"Why?,because\n', "unbalanced double quotes"),
        ('question,answer\n"Why"?,because\n', "unbalanced double quotes"),
        ("question,answer,id\nWhy?,so,1\nHow?,thus,1\n", "line 3: the id '1' is already used in line 2"),
        (b"question,answer\nWhy?,\xef\xbf\xbd\n", "line 2: a character is not valid UTF-8. Save the file as UTF-8"),
        ('{"question": "Why?", "answer": "so"}\n{"question"\n', "line 2 is not valid JSON"),
        ('{"question": "Why?", "answer": "so"}\n[1]\n', "line 2 is not an object"),
        ('[{"question": "Why?", "answer": {"a": 1}}]', 'line 1: {"a": 1} is not a text'),
        ('{"question": ["Why?"], "answer": "a"}', 'line 1: ["Why?"] is not a text'),
        ("[" * 100_000, "not valid JSON"),
        (b"%PDF-1.7 \x00", "binary file"),
        (b"question,answer\n\x00\x01\x02\x03\x04", "binary file"),
    ],
)
def test_what_is_said_of_a_broken_list(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(SourceError) as raised:
        read(tmp_path, content)
    assert str(raised.value).startswith(str(tmp_path / "questions.csv"))
    assert said in str(raised.value)


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="can't be read"):
        read_questions(tmp_path / "none.csv")


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_a_list_or_one_of_our_errors(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    for start in (b"", b"question,answer\n", b'{"question": '):
        path = tmp_path_factory.getbasetemp() / "any.csv"
        path.write_bytes(start + content)
        try:
            found = read_questions(path)
        except AnswerableError as error:
            assert str(path) in str(error)
        else:
            assert all(each.text and (each.answers or each.documents or each.is_unanswerable) for each in found)


# Documents by the names that people give them


def stored(identity: str, source: str, title: str = "") -> StoredDocument:
    return StoredDocument(identity, source, title, "text", "en", "", 1, 1)


DOCUMENTS = [
    stored("d1", "/data/guide.md", "Care guide"),
    stored("d2", "/data/old/guide.md"),
    stored("d3", "/data/all.zip!/a/notes.txt"),
    stored("d4", "/data/all.zip!/b/notes.txt"),
    stored("d5", "https://example.org/docs/setup"),
    stored("d6", ""),
]


def named(*names: str) -> dict[str, int]:
    """What the documents of a question with these names are."""
    listed = Listed(3, "q", "Why?", (), names, False, "", "other")
    (found,) = find_documents([listed], DOCUMENTS, Path("list.csv"))
    return dict(found.relevant or {})


def test_names_of_documents() -> None:
    cases: list[tuple[str, set[str]]] = [
        ("d6", {"d6"}),
        ("/data/guide.md", {"d1"}),
        ("care GUIDE", {"d1"}),
        ("guide.md", {"d1", "d2"}),
        ("old/guide.md", {"d2"}),
        ("/data/all.zip", {"d3", "d4"}),
        ("all.zip", {"d3", "d4"}),
        ("b/notes.txt", {"d4"}),
        ("setup", {"d5"}),
        ("https://example.org/docs/setup", {"d5"}),
    ]
    for name, expected in cases:
        assert named(name) == dict.fromkeys(expected, 1), name
        assert named(name, "d1").keys() == expected | {"d1"}, name


@pytest.mark.parametrize("name", ["uide.md", "none.md", "/", "."])
def test_a_name_of_no_document(name: str) -> None:
    with pytest.raises(SourceError, match=r"list\.csv, line 3: the library has no document"):
        named(name)


def test_a_path_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    listed = Listed(2, "q", "Why?", (), ("guide.md",), False, "", "other")
    here = stored("here", source_of(tmp_path / "guide.md"))
    (found,) = find_documents([listed], [*DOCUMENTS, here], Path("list.csv"))
    assert found.relevant == {"here": 1}
