"""How this copy of Answerable was installed, and so how one of its extras is added to it."""

from __future__ import annotations

import sys
from functools import cache


@cache
def install_command(extra: str) -> str:
    """Return the command that adds an extra to where this copy is installed.

    It runs in the folder of the source or of the wheel, so it names no folder of this machine, nor a package index.
    """
    origin, installer = _origin()
    wanted = f"'{origin}[{extra}]'"
    from pathlib import Path

    environment = Path(sys.prefix)
    if (environment / "uv-receipt.toml").is_file():
        return f"uv tool install {wanted}"
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx install --force {wanted}"
    if environment.parent.name == "archive-v0":
        # An environment of uvx.
        return f"uvx --from {wanted} answerable"
    return f"{'uv pip' if installer == 'uv' else 'pip'} install {wanted}"


def how_to_install(extra: str) -> str:
    """Return a sentence on how to add an extra."""
    command = install_command(extra)
    folder = "the wheel" if ".whl[" in command else "Answerable's source"
    return f"Run in the folder of {folder}: {command}"


def _origin() -> tuple[str, str]:
    """Return `.` for a source folder or the name of the wheel, and what installed it (PEP 610, PEP 376)."""
    # Loaded where something is missing only: they take longer to load than the rest of the package.
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        found = distribution("answerable")
    except PackageNotFoundError:
        # Run from its source.
        return ".", "pip"
    installer = (found.read_text("INSTALLER") or "pip").strip()
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if "dir_info" in origin:
        return ".", installer
    name = unquote(urlsplit(origin.get("url", "")).path).rpartition("/")[2]
    return f"./{name if name.endswith('.whl') else f'answerable-{found.version}-py3-none-any.whl'}", installer
