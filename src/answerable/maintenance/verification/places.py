"""Finds the file that a source names, and reports missing files."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator

from answerable.maintenance.verification.findings import Finding
from answerable.protocols import Difference
from answerable.sources.web_address import is_site

_MEMBER = re.compile(r"(.+?\.[A-Za-z0-9]{1,5})!/.+", re.DOTALL)


def file_of(source: str) -> str | None:
    """Return the file that a source names (for an archive's member, the archive), or None."""
    # Names that aren't Unicode are incomplete.
    if is_site(source) or not os.path.isabs(source) or "\N{REPLACEMENT CHARACTER}" in source or "\0" in source:
        return None
    member = _MEMBER.fullmatch(source)
    return member[1] if member else source


def moved(folder: str, documents: int) -> Finding:
    """Return the finding for a missing folder or file of documents."""
    name = shlex.quote(folder)
    count = "1 document" if documents == 1 else f"{documents:,} documents"
    return Finding(
        Difference.MOVED,
        folder,
        f"{count} of it, but it no longer exists. If it was moved: `answerable add NEW`, then "
        f"`answerable remove {name}`. If its disk isn't mounted, mount it",
    )


class Missing:
    """Missing files, by their topmost missing folder."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._folders: dict[str, bool] = {}

    def add(self, path: str) -> None:
        """Note that the file of a document is missing."""
        while not self._is_there(os.path.dirname(path)):
            path = os.path.dirname(path)
        self._counts[path] += 1

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each missing file or whole folder."""
        for path, documents in self._counts.items():
            yield moved(path, documents)

    def _is_there(self, folder: str) -> bool:
        if folder not in self._folders:
            self._folders[folder] = os.path.exists(folder)
        return self._folders[folder]
