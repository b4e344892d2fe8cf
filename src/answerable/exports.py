"""Load a package's public names on first use (PEP 562); its `__init__.pyi` lists them (SPEC 1).

So importing a name doesn't load the whole package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

_EXPORT = re.compile(r"^from ([\w.]+) import (\w+) as \2$", re.MULTILINE)


def exported_from(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package from the `.pyi` next to its `__init__.py` (`file`)."""
    modules = {name: module for module, name in _EXPORT.findall(Path(file).with_suffix(".pyi").read_text("utf-8"))}

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(modules), sorted(modules)
