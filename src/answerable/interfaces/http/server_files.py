"""Small JSON files of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from answerable.disk.free_space import is_full, no_room
from answerable.disk.private import make_folder, replace_file
from answerable.errors import SettingsError


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file, empty if there is no file. Raise SettingsError."""
    try:
        found = json.loads(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError(f"a {type(found).__name__}")
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path} can't be read ({error}). Correct it, or move it away.") from error


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write an object to a file, whole and for this account only. Raise SettingsError and DiskFull."""
    try:
        make_folder(path.parent)
        replace_file(path, json.dumps(value, ensure_ascii=False, indent=1))
    except OSError as error:
        if is_full(error, path):
            raise no_room(path) from error
        raise SettingsError(f"{path} can't be written ({error}). Check the folder and its disk.") from error
