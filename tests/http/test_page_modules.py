"""Modules of the page that need no document, run by Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from browser import ENVIRONMENT

import answerable

VIEWS = Path(answerable.__file__).parent / "interfaces" / "http" / "page" / "views"


def run_module(name: str, expression: str, folder: Path) -> Any:
    """What an expression over the exports of a module of the page, `it`, gives."""
    node = shutil.which("node", path=ENVIRONMENT["PATH"])
    assert node, "the tests need Node.js: make system"
    # By its ending Node.js takes it for a module.
    module = shutil.copyfile(VIEWS / name, folder / f"{name.removesuffix('.js')}.mjs")
    program = f"import * as it from {json.dumps(module.as_uri())}; console.log(JSON.stringify({expression}))"
    done = subprocess.run([node, "--input-type=module", "-e", program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_offsets_are_converted_around_wide_characters(tmp_path: Path) -> None:
    text = "a😀b🏢c"
    # The offset of each code point in UTF-16 units.
    units = [len(text[:point].encode("utf-16-le")) // 2 for point in range(len(text) + 1)]
    points = list(range(len(text) + 1))
    found = (
        f"(o => [{points}.map(p => o.toUnits(p)), {units}.map(u => o.toPoints(u))])(new it.Offsets({json.dumps(text)}))"
    )
    assert run_module("offsets.js", found, tmp_path) == [units, points]


def test_a_text_is_located_whatever_its_white_space_nearest_to_an_offset(tmp_path: Path) -> None:
    content = "one (two)\nthree, one (two) three"
    located = f"[0, 25].map(near => it.locate({json.dumps(content)}, ' (two)  three', near))"
    assert run_module("offsets.js", located, tmp_path) == [{"start": 4, "end": 15}, {"start": 21, "end": 32}]
    assert run_module("offsets.js", "[it.locate('abc', 'x', 0), it.locate('abc', ' ', 0)]", tmp_path) == [None, None]
