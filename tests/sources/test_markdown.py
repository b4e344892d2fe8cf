"""Markdown: sections with their anchors, front matter, and full cover of the content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import DocumentType
from answerable.errors import EmptySource
from answerable.sources.markdown import Anchors, read_markdown
from answerable.tables.grid import front_matter

BOOK = """---
title: "The Book" # shown in the sidebar
sidebar_position: 3
tags: [robots, 'ros 2']
keywords:
  - one
  - two
---

Before all.

# Chapter *One*

Text.

```bash
# not a heading
```

Setext `code` here
------------------

## Own id {#mine}
### Deep & down!
> # quoted
## Own id
## Own id
# Kapitel für Ёлка नमस्ते
"""


def test_sections_of_a_book() -> None:
    document = read_markdown(BOOK, "/docs/book.md")
    shown = BOOK.replace(" {#mine}", "")
    assert document.content == shown
    assert (document.title, document.type) == ("The Book", DocumentType.MARKDOWN)
    assert document.metadata == {"sidebar_position": "3", "tags": ["robots", "ros 2"], "keywords": "one, two"}
    assert [(part.headings, part.anchor) for part in document.parts] == [
        ((), None),
        ((), None),
        (("Chapter One",), "chapter-one"),
        (("Chapter One", "Setext code here"), "setext-code-here"),
        (("Chapter One", "Own id"), "mine"),
        (("Chapter One", "Own id", "Deep & down!"), "deep--down"),
        (("Chapter One", "Own id"), "own-id"),
        (("Chapter One", "Own id"), "own-id-1"),
        (("Kapitel für Ёлка नमस्ते",), "kapitel-für-ёлка-नमस्ते"),
    ]
    texts = [shown[part.start : part.end] for part in document.parts]
    assert texts[0].startswith("---\ntitle")
    assert texts[0].endswith("---\n")
    assert texts[1].strip() == "Before all."
    assert texts[2].startswith("# Chapter *One*")
    assert "# not a heading" in texts[2]
    assert texts[3].startswith("Setext `code` here\n---")


def test_titles() -> None:
    assert read_markdown("## Two\n# One\n", "/x/name.md").title == "One"
    assert read_markdown("no heading", "/x/name.md").title == "name"


def test_mdx_ids_and_repeated_headings() -> None:
    document = read_markdown("# A {/* #id */}\n# B\n# B\n# B 1\n# B\n# !!!\n", "a.mdx")
    assert [part.anchor for part in document.parts] == ["id", "b", "b-1", "b-1-1", "b-2", None]
    assert document.parts[0].headings == ("A",)


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nA rule, then prose: not metadata\n\n---\nmore",
        "---\nkey: value\nnever closed",
        "text\n---\nkey: value\n---\n",
    ],
)
def test_what_is_no_front_matter_is_left(text: str) -> None:
    assert front_matter(text) == ({}, 0)


def test_nested_front_matter_values_are_passed_over() -> None:
    metadata, end = front_matter("---\ntitle: 'It''s'\nhero:\n  image: a.png\nlast: 1\n---\ntext")
    assert (metadata["last"], "hero" in metadata) == ("1", False)
    assert end == len("---\ntitle: 'It''s'\nhero:\n  image: a.png\nlast: 1\n---\n")


def test_lists_in_lists_of_front_matter_are_passed_over() -> None:
    metadata, _ = front_matter("---\ntags: [a, [b, c], 'd']\n---\ntext")
    assert metadata == {"tags": "a, c], d"}
    deep = front_matter(f"---\na: {'[' * 5_000}{']' * 5_000}\nb: c\n---\ntext")
    assert deep[0] == {"b": "c"}


def test_only_the_last_note_of_a_heading_is_its_id() -> None:
    document = read_markdown("# Setup {/* for now */} {/* #start */}\n\nText.\n", "a.mdx")
    assert document.content.startswith("# Setup\n")
    assert [(part.headings, part.anchor) for part in document.parts] == [(("Setup",), "start")]


def test_a_slug_of_each_kind_of_character() -> None:
    anchors = Anchors()
    assert anchors.give("C++ & C#: what's_new? 2.0") == "c--c-whats_new-20"
    assert anchors.give("¿Qué es ROS 2?") == "qué-es-ros-2"


def test_blank_markdown_is_empty() -> None:
    with pytest.raises(EmptySource, match=r"a\.md holds no text: check"):
        read_markdown("\n\n", "a.md")


markdown = st.lists(
    st.sampled_from(
        ["# a\n", "## b\n", "b\n===\n", "```\n", "---\n", "k: v\n", "\n", "> ", "- ", "    ", "\r", "<div>\n"]
    )
    | st.text(max_size=8)
).map("".join)


@given(markdown)
def test_parts_are_in_order_and_cover_the_content(content: str) -> None:
    if not content.strip():
        return
    try:
        document = read_markdown(content, "a.md")
    except EmptySource:
        return
    end = 0
    for part in document.parts:
        assert end <= part.start < part.end
        assert not document.content[end : part.start].strip()
        end = part.end
    assert not content[end:].strip()
