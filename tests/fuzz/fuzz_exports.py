"""Fuzz exported libraries whose lines are changed while their sizes and hashes stay consistent."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from backup.made_exports import fill, members, write
from draw import HOSTILE, Draw
from fuzz_packages import spoilt
from fuzz_targets import Target

from answerable.maintenance.exporting import export_store
from answerable.maintenance.importing import import_store
from answerable.stores.memory import MemoryStore

LINES = ("documents.jsonl", "chunks.jsonl", "records.jsonl", "manifest.json")
ARRAYS = ("vectors.npy", "sentence_vectors.npy", "sentence_scales.npy")
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    [],
    {},
    "",
    "\ud800",
    "\0",
    *HOSTILE,
)
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-exports-"))


@cache
def _export() -> dict[str, bytes]:
    store = MemoryStore()
    fill(store)
    export_store(store, FOLDER / "sound.zip", overwrite=True)
    return members(FOLDER / "sound.zip")


def with_another_value(draw: Draw, value: Any) -> Any:
    """The value with something in it, however deep, exchanged, added or taken away."""
    if isinstance(value, dict) and value and draw.number(5):
        name = draw.pick(sorted(value))
        match draw.number(7):
            case 0:
                return {other: kept for other, kept in value.items() if other != name}
            case 1:
                return {**value, draw.pick(HOSTILE): draw.pick(VALUES)}
        return {**value, name: with_another_value(draw, value[name])}
    if isinstance(value, list) and value and draw.number(5):
        place = draw.number(len(value) - 1)
        inside = [with_another_value(draw, value[place])] * draw.number(2)
        return [*value[:place], *inside, *value[place + 1 :]]
    return value + draw.pick((1, -1, 2**31)) if isinstance(value, int) and draw.number(1) else draw.pick(VALUES)


def _changed(draw: Draw, found: dict[str, bytes]) -> dict[str, bytes]:
    for _ in range(1 + draw.number(2)):
        if not draw.number(5):
            name = draw.pick(ARRAYS)
            found = {**found, name: spoilt(draw, found[name])}
            continue
        name = draw.pick(LINES)
        lines = found[name].decode("utf-8", "replace").splitlines()
        if not lines:
            continue
        place = draw.number(len(lines) - 1)
        try:
            line = json.dumps(with_another_value(draw, json.loads(lines[place])))
        except ValueError:
            # It was changed before, to something that is no JSON.
            continue
        lines[place : place + 1] = [line] * draw.pick((1, 1, 1, 1, 0, 2))
        found = {**found, name: "".join(f"{each}\n" for each in lines).encode()}
    return found


def _fitting(found: dict[str, bytes]) -> dict[str, bytes]:
    """The members with a manifest that fits them, as far as it still is one."""
    try:
        manifest = json.loads(found["manifest.json"])
        for name, known in manifest["members"].items():
            known.update(bytes=len(found[name]), sha256=sha256(found[name]).hexdigest())
        return {**found, "manifest.json": json.dumps(manifest).encode()}
    except (ValueError, LookupError, TypeError, AttributeError):
        return found


def _export_file(draw: Draw) -> None:
    path, store = FOLDER / "changed.zip", MemoryStore()
    write(path, _fitting(_changed(draw, _export())) if draw.number(9) else _export())
    if not draw.number(9):
        path.write_bytes(spoilt(draw, path.read_bytes()))
    import_store(path, lambda: store)
    for stored in store.documents():
        document = store.document(stored.id)
        assert document is not None
        document.content.encode("utf-8")
        for chunk in store.chunks(stored.id):
            assert document.content[chunk.start : chunk.end] == chunk.content
            str(chunk.location)


TARGETS = {"export": Target(_export_file, (b"\1" * 60,))}
