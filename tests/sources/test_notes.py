"""Notes of Obsidian: tags, aliases and links as metadata that filters use, links that lead to their notes."""

from __future__ import annotations

from pathlib import Path

import pytest

import answerable
from answerable.errors import DocumentNotFound
from answerable.sources.markdown import note_facts, read_markdown
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans

BREAD = """---
aliases: [The loaf, Pan]
tags:
  - kitchen/bread
  - weekly
---
Rye bread rests for nine hours, see [[Sourdough#Feeding|the starter]] #rye.

![[oven.png]]

```sh
[[ -f secret ]] # #secret
```

Inline `[[secret]] #secret` is code, and so is no tag: issue #12, C#, a#b.
More in [[Recipes/Oven.md]] and [[Sourdough]]; ![[Prices#^block]].
"""
SOURDOUGH = "# About the starter\n\nThe starter is fed every evening with rye flour. #kitchen/yeast\n"


def vault(folder: Path) -> Path:
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "app.json").write_text('[{"secret": "settings"}]')
    (folder / "Recipes").mkdir()
    (folder / "Bread.md").write_text(BREAD)
    (folder / "Sourdough.md").write_text(SOURDOUGH)
    (folder / "Recipes" / "Oven.md").write_text("The oven heats to 240 degrees.\n")
    return folder


def test_tags_aliases_and_links_are_lists() -> None:
    document = read_markdown(BREAD, "/vault/Bread.md")
    assert document.content == BREAD
    assert document.title == "Bread"
    assert document.metadata == {
        "aliases": ["The loaf", "Pan"],
        "tags": ["kitchen/bread", "kitchen", "weekly", "rye"],
        "links": ["Sourdough", "oven.png", "Recipes/Oven", "Prices"],
    }


def test_a_text_without_marks_has_no_facts() -> None:
    assert note_facts("# Heading\n\n[a](#b) [[]] [[#here]] # x\n", 0, {}) == {}


def test_a_link_in_a_table_has_a_text_behind_an_escaped_bar() -> None:
    assert note_facts("| [[Oven\\|hot]] | [[Jar#Lid\\|shut]] |\n", 0, {}) == {"links": ["Oven", "Jar"]}


def test_comments_are_left_out() -> None:
    text = "Ada %%not [[me]]%% said 50%% of %%.\n%% line %%\n%%\nSeveral\n\nlines\n%%\n\n```\n%%time\n%%\n```\n"
    document = read_markdown(f"{text}%% open\n\nx", "a.md")
    assert document.content == "Ada  said 50%% of %%.\n\n\n\n\n\n\n\n```\n%%time\n%%\n```\n\n\n"
    assert document.metadata == {}
    assert read_markdown("Cell:\n%%time\nAda", "a.md").content == "Cell:\n%%time\nAda"


def test_what_logseq_logs_is_left_out() -> None:
    text = (
        "- Bought tar\n  id:: 65e7a1b2-1111-4222-8333-444455556666\n\t- collapsed:: true\n\t- price:: 20\n"
        "- DONE Roof\n  DEADLINE: <2024-05-01 Wed>\n  :LOGBOOK:\n  CLOCK: [2024-04-01 Mon 10:00:00]\n  :END:\n"
        "  CLOCK: [2024-04-02 Tue 10:00:00]\n- id:: 7\n"
    )
    assert read_markdown(text, "a.md").content == (
        "- Bought tar\n\n\n\t- price:: 20\n- DONE Roof\n  DEADLINE: <2024-05-01 Wed>\n\n\n\n\n- id:: 7\n"
    )


def test_a_page_of_logseq_has_the_title_of_its_property() -> None:
    document = read_markdown("title:: Roof of tar\ntype:: job\n\n- title:: kept\n", "roof.md")
    assert (document.title, document.content) == ("Roof of tar", "\ntype:: job\n\n- title:: kept\n")
    daily = read_markdown("- title:: ignored\n- Tar\n", "2024_04_01.md")
    assert (daily.title, daily.content) == ("2024-04-01", "\n- Tar\n")


@pytest.mark.parametrize(
    ("name", "title", "date"),
    [
        ("2024_04_01.md", "2024-04-01", "2024-04-01"),
        ("2024-04-01.md", "2024-04-01", "2024-04-01"),
        ("20240401.md", "2024-04-01", "2024-04-01"),
        ("2024-04-01 Roof.md", "2024-04-01 Roof", "2024-04-01"),
        ("2024-13-01.md", "2024-13-01", None),
        ("20240401123000.md", "20240401123000", None),
    ],
)
def test_the_day_of_a_daily_note(name: str, title: str, date: str | None) -> None:
    document = read_markdown("Bought tar.\n## Evening\nRoof.\n", f"/journals/{name}")
    assert (document.title, document.metadata.get("date")) == (title, date)
    day = (title,) if date == title else ()
    assert [part.headings for part in document.parts] == [day, (*day, "Evening")]


def test_many_tags_and_links_are_cut() -> None:
    facts = note_facts("".join(f"#t{number} [[n{number}]]\n" for number in range(1_000)), 0, {})
    assert [len(values) for values in facts.values()] == [200, 200]


def test_a_vault_is_filtered_by_tags_and_links(tmp_path: Path) -> None:
    with answerable.open(":memory:") as library:
        report = library.add(vault(tmp_path / "vault"))
        assert report.added == 3
        assert not any("secret" in each.source for each in library.documents())

        def found(where: dict[str, str]) -> set[str]:
            return {Path(each.document.source).name for each in library.search("bread starter oven", where=where)}

        assert found({"tags": "kitchen"}) == {"Bread.md", "Sourdough.md"}
        assert found({"tags": "kitchen/yeast"}) == {"Sourdough.md"}
        assert found({"links": "sourdough"}) == {"Bread.md"}
        assert found({"aliases": "pan"}) == {"Bread.md"}
        answer = library.ask("How long does rye bread rest?")
        assert "nine hours" in answer.citations[0].quote


def test_an_embedded_picture_is_not_quoted() -> None:
    chunks = SplitterByType().split(read_markdown(BREAD, "/vault/Bread.md"))
    quoted = [chunk.content[start:end] for chunk in chunks for start, end in evidence_spans(chunk, "en")]
    assert "Rye bread rests for nine hours, see [[Sourdough#Feeding|the starter]] #rye." in quoted
    assert not any("oven.png" in text for text in quoted)


def test_links_and_aliases_lead_to_their_notes(tmp_path: Path) -> None:
    with answerable.open(":memory:") as library:
        library.add(vault(tmp_path / "vault"))

        def note(name: str) -> str:
            return Path(library.document(library.resolve(name)).source).name

        document = library.document(library.resolve("Bread"))
        assert document.metadata["links"][0] == "Sourdough"
        assert note("Sourdough") == note("[[Sourdough#Feeding|the starter]]") == "Sourdough.md"
        assert note("[[Recipes/Oven.md]]") == note("![[Oven]]") == "Oven.md"
        assert note("the loaf") == "Bread.md"
        for name in ("[[Nowhere]]", "dough", "[[]]"):
            with pytest.raises(DocumentNotFound):
                library.resolve(name)
