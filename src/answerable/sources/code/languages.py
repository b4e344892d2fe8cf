"""Programming languages by the suffixes of their files: the grammar of each, and what its comments look like."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

_SLASHES = ("//", "/*", "*", "@", "#[")
_HASHES = ("#", "@")
_DASHES = ("--", "/*", "*")


@dataclass(frozen=True, slots=True)
class CodeLanguage:
    """A language. `grammar` is the module of its tree-sitter wheel, empty where there is none to rely on.

    `above` is how lines begin that belong to the function below them: comments and decorators.
    """

    name: str
    suffixes: tuple[str, ...]
    above: tuple[str, ...]
    grammar: str = ""
    function: str = "language"


LANGUAGES = (
    CodeLanguage("Python", (".py", ".pyi", ".pyw"), _HASHES, "tree_sitter_python"),
    CodeLanguage("JavaScript", (".js", ".jsx", ".mjs", ".cjs"), _SLASHES, "tree_sitter_javascript"),
    CodeLanguage("TypeScript", (".ts", ".mts", ".cts"), _SLASHES, "tree_sitter_typescript", "language_typescript"),
    CodeLanguage("TSX", (".tsx",), _SLASHES, "tree_sitter_typescript", "language_tsx"),
    CodeLanguage("Java", (".java",), _SLASHES, "tree_sitter_java"),
    CodeLanguage("C", (".c", ".h"), _SLASHES, "tree_sitter_c"),
    CodeLanguage("C++", (".cpp", ".hpp", ".cc", ".cxx", ".hh", ".hxx"), _SLASHES, "tree_sitter_cpp"),
    CodeLanguage("C#", (".cs",), _SLASHES, "tree_sitter_c_sharp"),
    CodeLanguage("Go", (".go",), _SLASHES, "tree_sitter_go"),
    CodeLanguage("Rust", (".rs",), _SLASHES, "tree_sitter_rust"),
    CodeLanguage("Ruby", (".rb",), _HASHES, "tree_sitter_ruby"),
    CodeLanguage("PHP", (".php",), (*_SLASHES, "#"), "tree_sitter_php", "language_php"),
    CodeLanguage("Kotlin", (".kt", ".kts"), _SLASHES, "tree_sitter_kotlin"),
    CodeLanguage("Swift", (".swift",), _SLASHES, "tree_sitter_swift"),
    CodeLanguage("Scala", (".scala", ".sc"), _SLASHES, "tree_sitter_scala"),
    CodeLanguage("Shell", (".sh", ".bash"), _HASHES, "tree_sitter_bash"),
    CodeLanguage("Lua", (".lua",), _DASHES, "tree_sitter_lua"),
    CodeLanguage("Julia", (".jl",), _HASHES, "tree_sitter_julia"),
    CodeLanguage("SQL", (".sql",), _DASHES),
    CodeLanguage("R", (".r",), _HASHES),
    CodeLanguage("Perl", (".pl", ".pm"), _HASHES),
    CodeLanguage("Objective-C or MATLAB", (".m", ".mm"), (*_SLASHES, "%")),
    CodeLanguage("Dart", (".dart",), _SLASHES),
    CodeLanguage("Zig", (".zig",), _SLASHES),
    CodeLanguage("Groovy", (".groovy", ".gradle"), _SLASHES),
    CodeLanguage("Elixir", (".ex", ".exs"), _HASHES),
    CodeLanguage("Haskell", (".hs",), _DASHES),
    CodeLanguage("PowerShell", (".ps1", ".psm1"), _HASHES),
)

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
CODE_SUFFIXES = frozenset(_BY_SUFFIX)


def code_language(source: str) -> CodeLanguage | None:
    """The language of a file by its name."""
    return _BY_SUFFIX.get(PurePosixPath(source.lower()).suffix)
