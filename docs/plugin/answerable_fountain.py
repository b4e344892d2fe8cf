"""Screenplays in Fountain, a plain text format: a scene is cited by its heading."""

import re
from dataclasses import replace
from pathlib import PurePath

from answerable import Document
from answerable.datatypes import Part, PartKind
from answerable.sources import Format, Places, Split, decode

SCENE = re.compile(r"^(?:\.(?=\w)|(?=(?:INT|EXT|EST|I/E)[./ ]))(.+)$", re.MULTILINE | re.IGNORECASE)
TITLE = re.compile(r"^Title:\s*(.+)$", re.MULTILINE)


def read(data: bytes, source: str, context: object) -> list[Document]:
    text = decode(data, source)
    title = TITLE.search(text)
    found = Document.from_text(text, source=source, title=title[1] if title else PurePath(source).stem)
    scenes = list(SCENE.finditer(text))
    ends = [*(scene.start() for scene in scenes[1:]), len(text)]
    parts = (
        Part(scene.start(), end, PartKind.SECTION, headings=(found.title, scene[1].strip()))
        for scene, end in zip(scenes, ends, strict=True)
    )
    return [replace(found, parts=tuple(parts))]


SCREENPLAY = Format(name="fountain", suffixes=(".fountain",), read=read, places=Places.LINES, split=Split.HEADINGS)
