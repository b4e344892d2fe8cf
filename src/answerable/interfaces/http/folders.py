"""Which folders of the server's machine may be followed from the page.

Only what lies below a root that the server was started with, and isn't hidden: keys, passwords and other libraries
stay out of reach. Links are resolved first. Without keys every account of the machine can use the server, so where the
system tells whose a connection is (Linux), only the server's own account may name folders.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.interfaces.http.problems import Problem

_MOST_LISTED = 500
_CONNECTIONS = ("/proc/net/tcp", "/proc/net/tcp6")


@dataclass(frozen=True, slots=True)
class Folders:
    """The roots, none if no folder may be followed; `own` is the server's data folder, which may not be."""

    roots: Sequence[Path]
    own: Path

    def allowed(self, path: str) -> Path:
        """Return the real path of a folder or file that may be followed. Raise Problem."""
        try:
            real = Path(os.path.expanduser(path)).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            # No difference between what isn't there and what is not to be seen.
            raise _refused() from None
        if not Path(os.path.expanduser(path)).is_absolute() or not self._is_below(real) or self._holds_own(real):
            raise _refused()
        return real

    def listing(self, path: str) -> dict[str, Any]:
        """Return the folders in a folder, or the roots if the path is empty. Raise Problem."""
        roots = [root.resolve() for root in self.roots]
        if not path and len(roots) != 1:
            return {"path": "", "parent": None, "folders": sorted(map(str, roots)), "files": 0}
        here = self.allowed(path) if path else self.allowed(str(roots[0]))
        try:
            with os.scandir(here) as found:
                entries = [each for each in found if not each.name.startswith(".")]
            folders = sorted((each.path for each in entries if each.is_dir(follow_symlinks=False)), key=str.casefold)
            files = sum(each.is_file() for each in entries)
        except OSError:
            raise _refused() from None
        shown = [each for each in folders if each.isprintable()][:_MOST_LISTED]
        above = (None if len(roots) == 1 else "") if here in roots else str(here.parent)
        return {"path": str(here), "parent": above, "folders": shown, "files": files}

    def _is_below(self, real: Path) -> bool:
        for root in (root.resolve() for root in self.roots):
            if real.is_relative_to(root):
                return not any(part.startswith(".") for part in real.relative_to(root).parts)
        return False

    def _holds_own(self, real: Path) -> bool:
        """Whether a path is in the server's data folder, or a walk through it would come there."""
        own = self.own.resolve()
        if real.is_relative_to(own):
            return True
        return own.is_relative_to(real) and not any(part.startswith(".") for part in own.relative_to(real).parts)


def is_own_account(client: Sequence[Any] | None, server: Sequence[Any] | None) -> bool:
    """Return whether a connection of this machine comes from the server's account or root; true if it can't be told."""
    if client is None or server is None or not hasattr(os, "getuid") or not os.path.exists(_CONNECTIONS[0]):
        return True
    ports = (int(client[1]), int(server[1]))
    owners = [uid for path in _CONNECTIONS for uid in _owners(path, ports)]
    # None is listed where the client is in another network namespace.
    return bool(owners) and all(uid in (0, os.getuid()) for uid in owners)


def _owners(path: str, ports: tuple[int, int]) -> list[int]:
    try:
        lines = Path(path).read_text("ascii").splitlines()[1:]
    except OSError:
        return []
    found = (line.split() for line in lines)
    return [int(each[7]) for each in found if tuple(int(each[at].rpartition(":")[2], 16) for at in (1, 2)) == ports]


def _refused() -> Problem:
    return Problem(
        403,
        "folder_refused",
        "This folder may not be followed. Choose one of those listed, or ask the server's administrator to allow it.",
    )
