"""Plug-ins: objects that installed packages add by entry points, and error messages that name the plug-in.

Looking up plug-ins takes tens of milliseconds, so it is done only for a name or suffix that is not built in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from answerable.errors import SettingsError
from answerable.text.characters import sendable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SOURCES, SPLITTERS, EMBEDDERS, STORES, ANSWERERS = KINDS = ("sources", "splitters", "embedders", "stores", "answerers")
"""The groups of entry points are `answerable.sources`, `answerable.splitters` and so on."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of an installed package, not yet imported."""

    kind: str
    name: str
    package: str
    version: str
    entry: EntryPoint = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"the plug-in {self.name} of the package {self.package} {self.version}".rstrip()

    def load(self) -> object:
        """Import the plug-in and return its object. Raise SettingsError that names the plug-in and its package."""
        try:
            loaded: object = self.entry.load()
        except (Exception, SystemExit) as error:
            failed = self.failed("can't be loaded", error)
            raise SettingsError(f"{failed}: update or uninstall {self.package}") from error
        return loaded

    def failed(self, what: str, error: BaseException) -> str:
        """Return the beginning of a message that says what failed and why."""
        return f"{self} {what} ({type(error).__name__}: {sendable(str(error)[:300])})"


@cache
def installed(kind: str) -> tuple[Plugin, ...]:
    """Return a kind's installed plug-ins, sorted by name and package. Of those with one name, the first is used."""
    from importlib.metadata import entry_points

    found = []
    for entry in entry_points(group=f"answerable.{kind}"):
        package = entry.dist
        name, version = (package.metadata["Name"] or "", package.version or "") if package else ("", "")
        found.append(Plugin(kind, entry.name, name, version, entry))
    return tuple(sorted(found, key=lambda each: (each.name, each.package)))


def named(kind: str, name: str) -> Plugin | None:
    """Return the plug-in of this kind and name, or None."""
    return next((each for each in installed(kind) if each.name == name), None)
