"""The examples of the module's README run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codomyrmex.llm import rag

ROOT = Path(__file__).resolve().parents[3]
README = (Path(rag.__file__).parent / "README.md").read_text("utf-8")


def test_the_examples_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(examples) >= 5
    names: dict[str, object] = {}
    for example in examples:
        exec(example, names)
    assert "riverside-library-rules.pdf page 1" in capsys.readouterr().out
    assert "36 euros a year" in str(names["prompt"])


def test_every_public_name_stands_in_the_specification() -> None:
    specification = (Path(rag.__file__).parent / "SPEC.md").read_text("utf-8")
    assert [name for name in rag.__all__ if f"`{name}`" not in specification] == []


def test_the_specification_has_its_sections() -> None:
    specification = (Path(rag.__file__).parent / "SPEC.md").read_text("utf-8")
    assert re.findall(r"^#+ .*", re.sub(r"```.*?```", "", specification, flags=re.DOTALL), re.MULTILINE) == [
        "# Technical Specification - Rag",
        "## 1. Purpose",
        "## 2. Architecture",
        "### 2.1 Components",
        "### 2.2 Dependencies",
        "## 3. Interfaces",
        "### 3.1 Public API",
        "### 3.2 Configuration",
        "## 4. Implementation Notes",
        "### 4.1 Design Decisions",
        "### 4.2 Limitations",
        "## 5. Testing",
        "## 6. Future Considerations",
    ]
    files = {path.name for path in Path(rag.__file__).parent.iterdir() if path.is_file()}
    assert set(re.findall(r"^[├└]── (\S+)", specification, re.MULTILINE)) == files


def test_every_variable_stands_in_the_readme_with_its_default() -> None:
    formatter, splitter = rag.ContextFormatter(), rag.RecursiveTextSplitter()
    for name, default in (
        ("CHUNK_SIZE", splitter.chunk_size),
        ("CHUNK_OVERLAP", splitter.chunk_overlap),
        ("TOP_K", 5),
        ("MAX_CONTEXT_LENGTH", formatter.max_context_length),
    ):
        assert f"| `CODOMYRMEX_RAG_{name}` | {default} |" in README
