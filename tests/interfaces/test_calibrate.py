"""`answerable calibrate`: what it prints and keeps, and what answers by it afterwards."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import run_here
from made_sets import make_set
from typer.testing import CliRunner, Result

import answerable
from answerable.answering.gate import Gate
from answerable.errors import SettingsError
from answerable.evaluation.refusals import Kind
from answerable.interfaces.cli.main import app
from answerable.settings import load_settings
from answerable.wiring.build import build_local_embedder, gate_path

QUESTION = "How long does the warranty last?"
UNANSWERED = "Who won the football World Cup in 1998?"
ALWAYS = Gate({}, 50.0, ((0.0, 0.0), (100.0, 0.0)))
NEVER = Gate({}, -50.0, ((0.0, 1.0), (100.0, 1.0)))

Invoke = Callable[..., Result]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two small sets."""
    return [make_set(tmp_path_factory.mktemp("sets") / name, 4, name, 1) for name in ("coast", "harbour")]


@pytest.fixture
def call() -> Invoke:
    """Runs the command in this process."""
    return lambda *arguments: CliRunner().invoke(app, [str(one) for one in arguments], prog_name="answerable")


def gates() -> Path:
    """Where gates are kept."""
    return Path(os.environ["XDG_CONFIG_HOME"]) / "answerable" / "gates"


def kept() -> list[Path]:
    """The gates that are kept."""
    return sorted(gates().glob("**/*")) if gates().exists() else []


def refusals(call: Invoke) -> str:
    """What `doctor` says of where refusals come from."""
    shown = call("doctor", "--library", "/nowhere/at/all", "--json")
    assert shown.exit_code == 0, shown.output
    return str(json.loads(shown.stdout)["refusals"])


def keep(content: str) -> Path:
    """Keeps this as the gate, where `calibrate` would."""
    settings = load_settings()
    path = gate_path(settings, build_local_embedder(settings).fingerprint)
    path.parent.mkdir(parents=True)
    path.write_text(content)
    return path


def test_a_gate_is_fitted_shown_and_kept(call: Invoke, folders: list[Path]) -> None:
    assert refusals(call) == "the package's"
    result = call("calibrate", *folders)
    assert result.exit_code == 0, result.output
    assert [line.rstrip() for line in result.stderr.splitlines()] == [
        f"asking the questions of {folder}" for folder in folders
    ]
    assert "Refusals above are at the target of 10 % wrong answers (the setting wrong_answers)." in result.stdout
    for folder in folders:
        assert re.search(rf"^{re.escape(str(folder))}: \d+ questions not used for fitting$", result.stdout, re.M)
    assert len(re.findall(r"^  area under the curve, document removed: [01]\.\d{3} \(plain", result.stdout, re.M)) == 2
    for kind in Kind:
        assert len(re.findall(rf"^  refused, {kind.value}: \d+\.\d %$", result.stdout, re.M)) == 2
    (path,) = kept()
    assert f"Saved to {path}. Delete that file" in result.stdout
    assert set(Gate.from_json(json.loads(path.read_text())).weights) >= {"words", "meaning"}
    assert refusals(call) == str(path)
    path.unlink()
    assert refusals(call) == "the package's"


def test_answers_are_by_the_gate_that_is_kept(call: Invoke, example_library: Path) -> None:
    def is_answered(question: str) -> bool:
        shown = call("ask", question, "--library", example_library, "--json")
        assert shown.exit_code == 0, shown.output
        return bool(json.loads(shown.stdout)["answered"])

    assert [is_answered(question) for question in (QUESTION, UNANSWERED)] == [True, False]
    path = keep(json.dumps(NEVER.to_json()))
    assert [is_answered(question) for question in (QUESTION, UNANSWERED)] == [False, False]
    path.write_text(json.dumps(ALWAYS.to_json()))
    assert [is_answered(question) for question in (QUESTION, UNANSWERED)] == [True, True]


def test_the_target_is_a_setting(
    call: Invoke, folders: list[Path], example_library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for target, is_answered in (("0", False), ("100", True)):
        monkeypatch.setenv("ANSWERABLE_WRONG_ANSWERS", target)
        shown = call("ask", UNANSWERED, "--library", example_library, "--json")
        assert json.loads(shown.stdout)["answered"] is is_answered
    result = call("calibrate", *folders, "--dry-run")
    assert "at the target of 100 % wrong answers" in result.stdout
    assert re.findall(r"refused, .*: (.*)", result.stdout) == ["0.0 %"] * 8
    # A dry run keeps nothing.
    assert result.exit_code == 0
    assert "area under the curve" in result.stdout
    assert "Saved to" not in result.stdout
    assert kept() == []
    assert refusals(call) == "the package's"


def test_as_json_in_place_of_a_damaged_gate(call: Invoke, folders: list[Path]) -> None:
    path = keep("{")
    result = call("calibrate", *folders, "--json")
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(result.stdout)
    assert refusals(call) == str(path)
    assert kept() == [path]
    assert set(found) == {"wrong_answers", "sets", "gate", "kept_at"}
    assert (found["wrong_answers"], found["kept_at"]) == (10, str(path))
    assert found["gate"] == json.loads(path.read_text())
    assert [one["set"] for one in found["sets"]] == [str(folder) for folder in folders]
    for one in found["sets"]:
        assert set(one["refused"]) == {"answerable", "removed", "foreign", "unanswerable"}
        assert 0 <= one["area_under_curve"] <= 1
        assert 0 <= one["area_under_curve_of_plain_cosine"] <= 1


def assert_one_error(result: Result | subprocess.CompletedProcess[str], *parts: str) -> None:
    """One line on the error stream that says this, and exit status 2."""
    code = result.exit_code if isinstance(result, Result) else result.returncode
    assert code == 2, result.stdout
    assert result.stdout == ""
    error = result.stderr.splitlines()[-1]
    assert error.startswith("error: ")
    for part in parts:
        assert part in error


def test_a_folder_that_is_no_set(tmp_path: Path, folders: list[Path]) -> None:
    result = run_here("calibrate", folders[0], tmp_path / "none")
    assert_one_error(result, f"{tmp_path / 'none'} is not a question set", "corpus.jsonl", "queries.jsonl", "test.tsv")
    assert len(result.stderr.splitlines()) == 1
    assert kept() == []


def test_sets_that_are_too_small(call: Invoke, tmp_path: Path) -> None:
    assert_one_error(call("calibrate", make_set(tmp_path, 1, "pond", 1)), "too few articles")
    assert kept() == []


def test_no_folder(call: Invoke) -> None:
    assert_one_error(call("calibrate"), "FOLDER", "See answerable calibrate --help")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "5", '{"weights": {}}', json.dumps({**ALWAYS.to_json(), "weights": {"beauty": 1}})],
)
def test_a_damaged_gate(example_library: Path, content: str) -> None:
    path = keep(content)
    with pytest.raises(SettingsError) as raised:
        answerable.open(example_library, create=False)
    assert str(raised.value).startswith(f"{path} can't be read (")
    assert str(raised.value).endswith("Run `answerable calibrate` again, or delete it.")


def test_a_damaged_gate_ends_questions_but_not_the_doctor(call: Invoke, example_library: Path) -> None:
    path = keep("{")
    assert_one_error(call("ask", QUESTION, "--library", example_library), str(path), "or delete it")
    assert refusals(call).startswith(f"failed: {path} can't be read (")
    # Where nothing is refused it isn't looked at.
    with answerable.open(example_library, create=False, refuse=False) as library:
        assert library.ask(QUESTION).answered
