"""docs/formats.md: each format is in it, and its tables are those that the script makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import tomllib

from answerable.sources.formats import SUFFIXES, Format

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
    assert set(rows) == {form.value for form in Format}
    rows.pop("epub")
    with pytest.raises(SystemExit, match="epub"):
        script.read_table(rows)


def test_the_page_names_the_endings_of_the_code(script: ModuleType) -> None:
    page = script.page()
    for form in set(SUFFIXES.values()) - {Format.CODE, Format.PICTURE, Format.RECORDING}:
        assert all(f"`{suffix}`" in page for suffix, known in SUFFIXES.items() if known is form)


def test_sixty_files_are_measured_and_add_up(script: ModuleType) -> None:
    files = script.json.loads(script.MEASURED.read_text("utf-8"))["files"]
    assert len(files) == 60
    assert len({file["kind"] for file in files}) >= 25
    for file in files:
        ours, theirs = file["Answerable"], file["markitdown"]
        assert ours["asked"] == theirs["asked"] <= 5
        assert all(0 <= each["words"] <= 1 and 0 <= each["places"] <= each["asked"] for each in (ours, theirs))
