"""Exports for the tests: of a library with something of everything, and changed ones whose manifest fits the change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

from helpers import add, make_document

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.protocols import Store, SyncRecord

Change = Callable[[bytes], bytes]

METADATA = {"tags": ["b", "a"], "nested": {"z": None, "a": [1.5, 2.0]}, "value": 2.0, "big": 1e300, "note": "ñ\0\1"}


def fill(store: Store) -> None:
    """Documents of several kinds, one of them without chunks of its own before and after, and records."""
    lines = "\n\n".join(f"El informe habla de nieve y de la parte {part}." for part in range(12))
    pages = "Primera página del manual.\n\fSegunda página, con más texto que la primera."
    parts = (Part(0, 27, PartKind.PAGE, page=1), Part(28, len(pages), PartKind.PAGE, page=2, headings=("A", "B")))
    chat = "05/03/2024, 21:15 - Ana: Hola a todos"
    message = Part(0, len(chat), PartKind.MESSAGE, time=datetime(2024, 3, 5, 21, 15), sender="Ana", body=25)
    add(store, make_document("Se va.", "gone", source="/z"))
    add(
        store,
        make_document(lines, "b", source="/b", language="es", **METADATA),
        Document("a", pages, "/b#2", "Manual", DocumentType.PDF, "es", {"when": "2024-01-01"}, parts),
        Document("chat", chat, "/a", "Chat", DocumentType.CHAT, "es", {"participants": ["Ana"]}, (message,)),
        make_document("Sin origen.", "none"),
        make_document("Without an origin either.", "nothing"),
    )
    store.remove("gone")
    seen = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=timezone.utc)
    store.remember([SyncRecord("o", f"s{number}", seen, "ab", {"etag": "x"}, ("a", "b")) for number in (2, 1)])


def members(path: Path) -> dict[str, bytes]:
    """The members of an export, unpacked."""
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, found: Mapping[str, bytes]) -> Path:
    """A zip of these members."""
    with ZipFile(path, "w", ZIP_STORED) as archive:
        for name, data in found.items():
            archive.writestr(name, data)
    return path


def changed(path: Path, changes: Mapping[str, Change], counts: Mapping[str, int] | None = None) -> Path:
    """The export with members changed, and a manifest that says so."""
    found = members(path)
    manifest = json.loads(found["manifest.json"])
    for name, change in changes.items():
        found[name] = change(found[name])
        manifest["members"][name] = {"bytes": len(found[name]), "sha256": sha256(found[name]).hexdigest()}
    manifest["counts"].update(counts or {})
    if "manifest.json" not in changes:
        found["manifest.json"] = json.dumps(manifest).encode()
    return write(path.with_name("changed.zip"), found)
