"""Programming languages by the suffixes of their files; `languages.json` lists them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class CodeLanguage:
    """A programming language. `grammar` is the module of its tree-sitter wheel, "" if none is reliable.

    `above` lists how comments and decorators begin: such lines belong to the function below them.
    """

    name: str
    suffixes: tuple[str, ...]
    above: tuple[str, ...]
    grammar: str = ""
    function: str = "language"


_LISTED = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
LANGUAGES = tuple(
    CodeLanguage(name, tuple(entry.pop("suffixes")), tuple(entry.pop("above")), **entry)
    for name, entry in _LISTED.items()
)
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
CODE_SUFFIXES = frozenset(_BY_SUFFIX)


def code_language(source: str) -> CodeLanguage | None:
    """Return a file's language by the suffix of its name, or None."""
    return _BY_SUFFIX.get(PurePosixPath(source.lower()).suffix)
