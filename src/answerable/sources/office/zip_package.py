"""Documents that are zip archives (Word, EPUB): their members by name, within the limits of archives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from answerable.errors import DamagedSource
from answerable.sources.archives.members import Budget
from answerable.sources.archives.zip_archive import ZipArchive

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]


class Package:
    """An open package with all members checked. At most `limit` bytes are unpacked.

    `advice` tells the user what to do about a damaged or hostile package.
    """

    def __init__(self, data: bytes, source: str, limit: int, advice: str) -> None:
        self.source = source
        self.advice = advice
        self._zip = ZipArchive(data, source, advice)
        self._budget = Budget(limit, source, advice)
        self._names = frozenset(self._zip.names)

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @property
    def names(self) -> list[str]:
        """The names of all members except folders."""
        return list(self._zip.names)

    def read(self, name: str) -> bytes:
        """Return a member's bytes. Raises DamagedSource if it is missing or broken, SourceTooLarge over the limit."""
        if name not in self._names:
            raise DamagedSource(f"{self.source} is incomplete, it lacks {name[:200]!r}: {self.advice}")
        (member,) = self._zip.members([name])
        return self._budget.read(member) or b""

    def xml(self, name: str) -> _Element:
        """Return a member's XML, repaired if possible. Raises DamagedSource."""
        from lxml.etree import XMLSyntaxError

        try:
            root = parse_xml(self.read(name), recover=True)
        except (XMLSyntaxError, ValueError) as error:
            raise DamagedSource(f"{self.source} is damaged at {name[:200]!r} ({error}): {self.advice}") from error
        if root is None:
            raise DamagedSource(f"{self.source} is damaged at {name[:200]!r} (no XML): {self.advice}")
        refuse_entities(root, self.source, self.advice)
        return root


def refuse_entities(element: _Element, source: str, advice: str) -> None:
    """Raise DamagedSource if an element's XML defines entities, which in attributes are resolved in any case."""
    declared = element.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise DamagedSource(f"{source} is refused, its XML defines entities: {advice}")


def parse_xml(data: bytes, recover: bool) -> _Element:
    """Parse XML without resolving entities or fetching anything. Raises XMLSyntaxError and ValueError."""
    from lxml.etree import XMLParser, fromstring

    parser = XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover)
    return fromstring(data, parser)
