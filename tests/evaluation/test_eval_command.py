"""Test `answerable eval`: question sets, a user's list on the examples, floors, the page, and misuse."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_sets import make_set
from typer.testing import CliRunner, Result

from answerable.evaluation.report import FIGURES
from answerable.interfaces.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples"
LIST = """pregunta;respuesta;documento;sin respuesta;tipo
How long does the warranty last?;24 months;espresso-machine-guide.md;;guide
¿Qué hotel encontró Julián?;Hotel Las Golondrinas|Las Golondrinas;;;chat
Quando a alface fica pronta?;quarenta e cinco dias;Uma horta na varanda: por onde começar;;guide
How much does membership cost?;36 euros;riverside-library-rules.pdf;;
Who won the football World Cup in 1998?;;;sí;
Qual é a capital da Mongólia?;;;sí;
"""

Call = Callable[..., Result]


@pytest.fixture
def call() -> Call:
    """Runs the command in this process."""
    return lambda *arguments: CliRunner().invoke(app, ["eval", *map(str, arguments)], prog_name="answerable")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Path:
    """A library with the examples."""
    folder = tmp_path_factory.mktemp("eval") / "library"
    environment = {"ANSWERABLE_CACHE_FOLDER": str(cache_folder)}
    added = CliRunner().invoke(app, ["add", str(EXAMPLES), "--library", str(folder)], env=environment)
    assert added.exit_code == 0, added.output
    return folder


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A list on the examples, as Excel writes it in Spain."""
    path = tmp_path / "preguntas.csv"
    path.write_bytes(LIST.replace("\n", "\r\n").encode("utf-8-sig"))
    return path


def figures(measured: Any) -> dict[str, float]:
    """The values of a configuration's figures."""
    return {figure["name"]: figure["value"] for figure in measured["figures"]}


def test_a_list_on_the_examples(call: Call, library: Path, questions: Path) -> None:
    done = call("--questions", questions, "-l", library, "--compare", "dense,bm25", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    (measured,) = found["sets"]
    assert (measured["documents"], measured["questions"], measured["unanswerable"]) == (4, 6, 2)
    hybrid, dense, bm25 = measured["measured"]
    assert [each["configuration"] for each in (hybrid, dense, bm25)] == ["hybrid", "dense", "bm25"]
    known = figures(hybrid)
    assert known.keys() == set(FIGURES)
    assert known["ndcg@10"] == known["recall@1"] == known["answer_found@10"] == known["refusal_recall"] == 1
    assert known["answered"] == known["answer_containment"] == known["citation_recall"] == 1
    assert {group["name"]: group["questions"] for group in hybrid["by_language"]} == {"en": 3, "es": 1, "pt": 2}
    assert {group["name"] for group in hybrid["by_type"]} == {"chat", "guide", "other"}
    assert {change["name"] for change in dense["differences"]} == set(figures(dense)) & set(known)
    assert found["below_floor"] == []


@pytest.mark.long
def test_a_table_for_people(call: Call, library: Path, questions: Path) -> None:
    done = call("--questions", questions, "-l", library, "--compare", "bm25")
    assert done.exit_code == 0, done.output
    assert f"preguntas.csv on {library}: 6 questions, 2 without an answer; 4 documents, " in done.stdout
    for name in FIGURES:
        assert f" {name} " in done.stdout
    assert re.search(r"ndcg@10 +1\.000 \[1\.000, 1\.000\] +1\.000 [+-]0\.000 p=1\.000", done.stdout)
    for name in ("search p50/p95", "ask p50/p95", "wrong of answered", " es ", " chat "):
        assert name in done.stdout


def test_sets_and_floors(call: Call, tmp_path: Path) -> None:
    folders = [make_set(tmp_path / name, 3, name, 1) for name in ("sea", "land")]
    done = call(*folders, "--retrieval-only", "--floor", "ndcg@10=0.5", "--floor", "recall@100=1", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [each["name"] for each in found["sets"]] == [str(folder) for folder in folders]
    assert found["model"] == "none"
    missed = call(folders[0], "--retrieval-only", "--floor", "answered=0.5", "--floor", "mrr=0.1")
    assert missed.exit_code == 1
    assert "no question says what answered needs" in missed.stderr
    assert "mrr" not in missed.stderr
    # The figures are shown all the same.
    assert " mrr " in missed.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "What to measure? Give folders with question sets"),
        (("folder", "--questions", "x.csv"), "What to measure?"),
        (("none",), "not a question set in BEIR's layout"),
        (("none", "--floor", "speed=1"), "'speed=1' is not a valid floor"),
        (("none", "--compare", "magic"), "There is no configuration 'magic'"),
        (("--questions", "none.csv"), "none.csv can't be read"),
        (("none", "--sample", "-1"), "See answerable eval --help"),
    ],
)
def test_misuse(call: Call, arguments: tuple[str, ...], said: str) -> None:
    done = call(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_library_that_is_not_there(call: Call, questions: Path, tmp_path: Path) -> None:
    done = call("--questions", questions, "-l", tmp_path / "nowhere")
    assert done.exit_code == 2
    assert str(tmp_path / "nowhere") in done.stderr
    assert not (tmp_path / "nowhere").exists()


def test_a_list_that_names_another_document(call: Call, library: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("question,document\nWhy?,none.md\n")
    done = call("--questions", path, "-l", library)
    assert done.exit_code == 2
    assert f"{path}, line 2: the library has no document 'none.md'" in " ".join(done.stderr.split())


def test_help_loads_nothing_that_measures() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from answerable.interfaces.cli.main import app;"
        "assert CliRunner().invoke(app, ['eval', '--help']).exit_code == 0;"
        "print([name for name in sys.modules if name.startswith('answerable.evaluation')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
