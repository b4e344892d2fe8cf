"""Keep the project's size from growing: compare its figures with the limits in `house.toml`; `--write` lowers these.

Each limit may only fall. To raise a limit, edit `house.toml` in a separate commit whose subject gives the reason.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FrameType

import grimp
import tomllib

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "answerable"
FIGURES = ROOT / "house.toml"
QUESTION = "Quantas horas de sol o manjericão precisa?"


def measure() -> dict[str, int]:
    """Return the size figures of the project by name."""
    files = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    lines = {path: text.count("\n") for path, text in files.items()}
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0][
        "layers"
    ]
    return {
        "lines": sum(lines.values()),
        "files": len(files),
        "lines_of_the_longest_file": max(lines.values()),
        "files_of_the_largest_folder": max(Counter(path.parent for path in files).values()),
        "layers": len(layers),
        "longest_import_chain": len(longest_chain()),
        "files_entered_by_a_warm_question": len(entered()),
        "numeric_constants_without_a_reason": len(constants()),
    }


def longest_chain() -> list[str]:
    """Return the longest chain of modules in which each module imports the next."""
    graph = grimp.build_graph("answerable", exclude_type_checking_imports=True, cache_dir=None)

    @cache
    def chain(module: str) -> tuple[str, ...]:
        below = (chain(each) for each in graph.find_modules_directly_imported_by(module))
        return (module, *max(below, key=len, default=()))

    sys.setrecursionlimit(10_000)
    return list(max(map(chain, graph.modules), key=len))


def entered() -> list[str]:
    """Return the files with a function that runs when a library on disk answers a second question without a model."""
    import answerable

    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    with tempfile.TemporaryDirectory() as folder, answerable.open(Path(folder, "library")) as library:
        library.add(ROOT / "examples")
        library.ask(QUESTION)
        threading.setprofile(note)
        sys.setprofile(note)
        library.ask(QUESTION)
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(name for name in found if Path(name).is_relative_to(PACKAGE))


def unexplained(text: str) -> Iterator[str]:
    """Yield a module's numeric constants without a comment on or above their line and without a docstring."""
    lines, body = text.splitlines(), ast.parse(text).body
    for node, after in zip(body, [*body[1:], None], strict=False):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None or not _is_number(node.value):
            continue
        names = node.targets if isinstance(node, ast.Assign) else [node.target]
        has_comment = any("#" in lines[number] for number in range(max(node.lineno - 2, 0), node.end_lineno or 0))
        if not has_comment and not _is_text(after):
            yield ast.unparse(names[0])


def _is_number(node: ast.expr) -> bool:
    numbers = [each for each in ast.walk(node) if isinstance(each, ast.Constant)]
    of_numbers = all(isinstance(each.value, (int, float)) and not isinstance(each.value, bool) for each in numbers)
    allowed = (ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
    return bool(numbers) and of_numbers and all(isinstance(each, allowed) for each in ast.walk(node))


def _is_text(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def constants() -> list[str]:
    """Return the numeric constants of the package that have neither comment nor docstring."""
    return [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in unexplained(path.read_text("utf-8"))
    ]


def compare(figures: Path, found: Mapping[str, int], write: bool = False) -> None:
    """Print each figure and its limit; exit with a message if a figure grew. `write` lowers the other limits."""
    text = figures.read_text("utf-8")
    held = tomllib.loads(text)
    for name, value in found.items():
        print(f"{name} = {value} (at most {held[name]})")
    if write:
        comments = [line for line in text.splitlines() if line.startswith("#")]
        lowered = [f"{name} = {min(value, held[name])}" for name, value in found.items()]
        figures.write_text("\n".join([*comments, *lowered, ""]), "utf-8")
    if grown := [name for name, value in found.items() if value > held[name]]:
        sys.exit(f"{', '.join(grown)} grew: take something away, or raise it in a commit that says what it buys.")


def main() -> None:
    """Compare the figures with `house.toml`, lower its limits, or list the items that a figure counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="lower the figures of house.toml to those measured")
    parser.add_argument("--list", choices=("chain", "entered", "constants"), help="print what one figure counts")
    given = parser.parse_args()
    if given.list:
        listed = {"chain": longest_chain, "entered": entered, "constants": constants}[given.list]()
        print(*listed, sep="\n")
        return
    compare(FIGURES, measure(), given.write)


if __name__ == "__main__":
    main()
