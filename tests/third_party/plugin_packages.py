"""Packages with plug-ins, installed into a folder: the example of the docs, by pip, and made ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

EXAMPLE = Path(__file__).parents[2] / "docs" / "plugin"


def install_example(folder: Path) -> None:
    """Build and install the example of the docs as pip does it, without the network."""
    options = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile", "--target", str(folder))
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(EXAMPLE)], check=True, timeout=240)


def install(folder: Path, package: str, module: str, points: Mapping[str, str], version: str = "0.1") -> None:
    """Install a package of one module. `points` maps `kind.name` to an object of the module."""
    name = package.replace("-", "_")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(dedent(module), encoding="utf-8")
    described = folder / f"{name}-{version}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = []
    for point, target in points.items():
        kind, _, named = point.partition(".")
        lines += [f"[answerable.{kind}]", f"{named} = {name}:{target}"]
    (described / "entry_points.txt").write_text("\n".join(lines) + "\n")
