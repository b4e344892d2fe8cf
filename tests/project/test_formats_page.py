"""Test that docs/formats.md has every format, and that its tables are what the script generates."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import tomllib

from answerable.formats.registry import format_called, suffixes

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """docs/generate_formats.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("generate_formats", DOCS / "generate_formats.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_current(script: ModuleType) -> None:
    assert script.page() == (DOCS / "formats.md").read_text("utf-8"), "run: python docs/generate_formats.py"


def test_every_format_has_a_row_and_no_other(script: ModuleType) -> None:
    rows = tomllib.loads((DOCS / "formats.toml").read_text("utf-8"))
    words = rows.pop("epub")
    # Without words, what the format says of itself.
    assert f"| epub | `.epub` |  | {format_called('epub').places.value} |" in script.read_table(rows)
    with pytest.raises(SystemExit, match="no such format"):
        script.read_table({**rows, "no such format": words})


def test_the_page_names_the_endings_of_the_code(script: ModuleType) -> None:
    page = script.page()
    for suffix, form in suffixes().items():
        assert f"`{suffix}`" in page or form.name in ("code", "picture", "recording"), suffix


def test_sixty_files_and_those_with_states_are_measured_and_add_up(script: ModuleType) -> None:
    files = script.json.loads(script.MEASURED.read_text("utf-8"))["files"]
    assert len([file for file in files if not file["states"]]) == 60
    assert sum(sum(file["states"].values()) for file in files) >= 60
    assert len({file["kind"] for file in files}) >= 25
    for file in files:
        found = [file[program] for program in (script.OURS, *script.MEASURED_PEERS) if file[program]]
        assert len(found) >= 2
        for each in found:
            assert each["asked"] == found[0]["asked"] <= 5
            assert 0 <= each["words"] <= 1
            assert 0 <= each["places"] <= each["asked"]
            assert len(each["missed"]) == sum(file["states"].values()) - sum(each["states"].values())
