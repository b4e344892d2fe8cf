"""The example of docs/extending.md, run as it is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import answerable

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def test_the_documented_source_is_added_and_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("A member may borrow five tools.\nTomatoes need sun.\n", "utf-8")
    _, code = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})
    with answerable.open("notes-library", create=False) as library:
        assert [stored.title for stored in library.documents()] == ["Note 1", "Note 2"]
        assert [origin.name for origin in library.origins()] == ["notes.txt"]
