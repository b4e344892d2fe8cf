"""Notes as Obsidian writes them: tags, aliases, and links to other notes by name, `[[Note#Heading|shown]]`.

The text stays as it is; what is found becomes metadata, by which filters find a note. Code is not looked at. See
help.obsidian.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[\[([^\[\]|#^\n]{1,300})(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TAG = re.compile(r"(?<!\S)#([\w/-]{1,100})")
_LETTER = re.compile(r"[^\W\d]")
_LISTS = {"tags": "tags", "tag": "tags", "aliases": "aliases", "alias": "aliases"}
# Every passage carries them.
_MOST = 200


def note_facts(content: str, body: int, front_matter: Mapping[str, str]) -> dict[str, list[str]]:
    """Return `tags`, `aliases` and `links` as lists, of those that there are.

    A tag `home/garden` also counts as `home`. Links are the names of notes and files as written, without `.md`.
    """
    facts: dict[str, list[str]] = {}
    for key, name in _LISTS.items():
        values = (value.strip().lstrip("#") for value in front_matter.get(key, "").split(","))
        facts.setdefault(name, []).extend(filter(None, values))
    lines = list(_prose(content, body))
    facts["tags"] += [tag[1] for line in lines if "#" in line for tag in _TAG.finditer(line) if _LETTER.search(tag[1])]
    facts["tags"] = [step for tag in facts["tags"] for step in _with_parents(tag)]
    facts["links"] = [
        link[1].strip().removesuffix(".md") for line in lines if "[[" in line for link in _LINK.finditer(line)
    ]
    unique = {name: list(islice(dict.fromkeys(filter(None, values)), _MOST)) for name, values in facts.items()}
    return {name: values for name, values in unique.items() if values}


def _prose(content: str, body: int) -> Iterator[str]:
    """Yield the lines outside of code that may hold a tag or a link."""
    fence = ""
    for line in content[body:].split("\n"):
        if marker := _FENCE.match(line):
            if not fence:
                fence = marker[1]
            elif marker[1].startswith(fence):
                fence = ""
        elif not fence and ("#" in line or "[[" in line):
            yield _CODE.sub("", line) if "`" in line else line


def _with_parents(tag: str) -> Iterator[str]:
    steps = [step for step in tag.split("/") if step]
    for end in range(len(steps), 0, -1):
        yield "/".join(steps[:end])
