"""Every test that the table of conformance names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_every_test_that_is_named_exists() -> None:
    page = next(path for path in sorted((ROOT / "docs").glob("conformance*.md")) if _named(path))
    for file, name in _named(page):
        path = Path(__file__).parent / file if file.startswith("test_toolkit_") else ROOT / file
        assert re.search(rf"^(?:def {name}\(|{name} = )", path.read_text("utf-8"), re.MULTILINE), f"{file}::{name}"


def _named(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"`((?:apps/toolkit/)?[\w/]*test_(?:toolkit|rag)_\w+\.py)::(\w+)`", page.read_text("utf-8"))
