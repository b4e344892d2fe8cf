"""`sync_book`: what is stored and embedded when, and what is left when Qdrant fails."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx
import pytest
from providers.scripted_server import ScriptedServer
from qdrant_client import models
from qdrant_server import Fault, StandIn
from textbook_parts import (
    BOTH_ENGINES,
    EMBEDDINGS,
    NODES,
    embed,
    embedded,
    passages,
    say,
    versions,
    write_book,
)

from answerable.errors import SourceError
from src.collection import Collected
from src.errors import QdrantOperationError
from src.passages import Passage, rows
from src.qdrant import open_qdrant
from src.settings import COLLECTION, load
from src.tools.sync_book_to_qdrant import sync_book

QUESTION = "What is a node?"
PAGES = 3
CHUNKS = 6


@BOTH_ENGINES
def test_ingesting_again_writes_and_embeds_nothing(anywhere: str, openai: ScriptedServer, book: None) -> None:
    before, requests = versions(), len(openai.requests)
    report = sync_book()
    assert (report.chunks, report.embedded, report.removed) == (CHUNKS, 0, 0)
    assert versions() == before
    assert len(openai.requests) == requests


@BOTH_ENGINES
def test_only_what_changed_is_embedded(anywhere: str, docs: Path, openai: ScriptedServer, book: None) -> None:
    write_book(docs, {"module1/services.md": "# Services\n\nA service answers at once.\n"})
    write_book(docs, {"module3/legs.md": "# Legs\n\nLegs walk.\n"})
    (docs / "module2" / "arms.mdx").unlink()
    report = sync_book()
    assert (report.pages, report.chunks, report.embedded, report.removed) == (3, 5, 2, 3)
    assert embedded(openai) == [
        "Services\n# Services\n\nA service answers at once.",
        "Legs\n# Legs\n\nLegs walk.",
    ]
    assert {passage.source for passage in passages()} == {NODES, "docs/module1/services.md", "docs/module3/legs.md"}


@BOTH_ENGINES
def test_what_is_taken_over_is_found_as_before(anywhere: str, docs: Path, client: httpx.Client, book: None) -> None:
    before = say(client, QUESTION).json()
    write_book(docs, {"module3/legs.md": "# Legs\n\nLegs walk.\n"})
    sync_book()
    assert say(client, QUESTION, "s2").json()["response"] == before["response"]


def test_a_moved_file_keeps_its_vectors(docs: Path, book: None) -> None:
    shutil.move(docs / "module2", docs / "part2")
    assert sync_book().embedded == 0
    assert "docs/part2/arms.mdx" in {passage.source for passage in passages()}


def test_the_same_text_twice_is_stored_twice(docs: Path, openai: ScriptedServer) -> None:
    write_book(docs, {"a.md": "# Twin\n\nThe same.\n", "b.md": "# Twin\n\nThe same.\n"})
    assert sync_book().chunks == CHUNKS + 2
    assert len(passages()) == CHUNKS + 2
    assert len(embedded(openai)) == CHUNKS + 1


@BOTH_ENGINES
def test_a_resync_makes_all_anew_beside_the_old_one(anywhere: str, book: None) -> None:
    before = versions()
    report = sync_book(force_resync=True)
    assert (report.chunks, report.embedded) == (CHUNKS, CHUNKS)
    after = versions()
    assert len(before) == len(after) == 1
    assert before != after


def test_a_resync_leaves_nothing_of_before(docs: Path, book: None) -> None:
    with open_qdrant(load().qdrant) as opened:
        stray = models.PointStruct(id=1, vector=[0.1] * 1536, payload={"text": "stray"})
        opened.client.upsert(COLLECTION, [stray])
    sync_book(force_resync=True)
    assert "stray" not in {passage.text for passage in passages()}


def resync() -> None:
    sync_book(force_resync=True)


def rebuild(docs: Path) -> None:
    """What a resync writes, of pages that aren't read and vectors that aren't made."""
    page = Passage((docs / "edition.md").read_text("utf-8"), "docs/edition.md", "Edition", "")
    held = list(rows([*(each for each in passages() if each.source != page.source), page], "none"))
    with open_qdrant(load().qdrant) as opened:
        Collected(opened).replace(held, {row.hash: [1.0, *[0.0] * 1535] for row in held}, 1536)


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_qdrant_that_fails_at_any_request_leaves_the_old_book_or_the_new_one(
    on_server: StandIn, book: None, docs: Path, is_whole: bool
) -> None:
    work = resync if is_whole else partial(rebuild, docs)
    write_edition(docs, 0)
    start = len(on_server.requests)
    work()
    count = len(on_server.requests) - start
    assert count > 8
    outcomes = set()
    for number in range(1, count + 1):
        write_edition(docs, number)
        outcomes.add(_broken_off(on_server, number, work))
        texts = [passage.text for passage in passages()]
        assert len(texts) >= CHUNKS
        assert sum("This is edition" in text for text in texts) <= 1
    assert outcomes == {True, False}
    assert sync_book().chunks == CHUNKS + 1
    assert sum("edition" in passage.text for passage in passages()) == 1


def write_edition(docs: Path, number: int) -> None:
    write_book(docs, {"edition.md": f"# Edition\n\nThis is edition {number}.\n"})


def _broken_off(server: StandIn, number: int, work: Callable[[], None]) -> bool:
    """Whether work says that it failed when the server is gone once it has carried out so many requests."""
    last = len(server.requests) + number

    def gone(at: int, is_done: bool) -> Fault | None:
        return Fault(None) if at > last or (at == last and is_done) else None

    server.meddle = gone
    try:
        work()
    except QdrantOperationError:
        return True
    finally:
        server.meddle = lambda at, is_done: None
    return False


def test_what_was_left_by_one_that_was_killed_is_removed() -> None:
    old, young = f"{COLLECTION}.{10**9}", f"{COLLECTION}.{10**20 // 50}"
    with open_qdrant(load().qdrant) as opened:
        for name in (old, young):
            opened.client.create_collection(name, models.VectorParams(size=2, distance=models.Distance.COSINE))
    sync_book()
    left = versions()
    assert old not in left
    assert young in left


def test_a_page_that_cannot_be_read_leaves_the_book_as_it_was(
    docs: Path, monkeypatch: pytest.MonkeyPatch, book: None
) -> None:
    write_book(docs, {"module3/legs.md": f"# Legs\n\n{'Legs walk. ' * 200}\n"})
    monkeypatch.setenv("ANSWERABLE_MAX_FILE_SIZE", "1000")
    with pytest.raises(SourceError):
        sync_book(force_resync=True)
    assert len(passages()) == CHUNKS


def test_long_sections_are_cut(docs: Path) -> None:
    text = " ".join(f"Sentence {number} of the long section stands here." for number in range(100))
    write_book(docs, {"long.md": f"# Long\n\n## Section\n\n{text}\n"})
    sync_book()
    pieces = [passage for passage in passages() if passage.chapter == "Long"]
    assert len(pieces) > 2
    assert {piece.section for piece in pieces} == {"Section"}
    assert all(len(piece.text) <= 1800 for piece in pieces)


def test_a_resync_embeds_again_whatever_a_cache_holds(docs: Path, openai: ScriptedServer) -> None:
    sync_book()
    openai.requests.clear()
    report = sync_book(force_resync=True)
    assert report.embedded == len(embedded(openai)) == CHUNKS


def test_what_a_cache_holds_is_not_counted_as_embedded(
    docs: Path, openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync_book()
    openai.requests.clear()
    monkeypatch.setenv("QDRANT_URL", f"path:{docs.parent / 'other'}")
    report = sync_book()
    assert (report.chunks, report.embedded, len(openai.requests)) == (CHUNKS, 0, 0)
    assert f"0 were embedded, {CHUNKS} taken over" in str(report)


def test_another_server_embeds_by_itself(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sync_book()
    monkeypatch.setenv("QDRANT_URL", f"path:{docs.parent / 'other'}")
    with ScriptedServer() as other:
        other.script(EMBEDDINGS, embed)
        monkeypatch.setenv("OPENAI_BASE_URL", other.url)
        assert sync_book().embedded == len(embedded(other)) == CHUNKS


def test_only_what_readers_of_the_book_see_is_ingested(docs: Path) -> None:
    write_book(
        docs,
        {
            "draft.md": "---\ntitle: Draft\ndraft: true\n---\n\nA secret of the draft.\n",
            "unlisted.md": "---\ntitle: Unlisted\nunlisted: true\n---\n\nA secret of the unlisted.\n",
            "_notes.md": "# Notes\n\nA secret of the notes.\n",
            "_parts/nowhere.mdx": "A secret that nobody imports.\n",
            "_parts/safety.mdx": "import Deep from './_deep.mdx'\n\n## Safety\n\n"
            "Keep your <b>fingers</b> away.\n\n<Deep />\n",
            "_parts/_deep.mdx": "import Again from './safety.mdx'\n\nWear goggles.\n",
            "module3/hands.mdx": "---\ntitle: Hands\n---\nimport Tabs from '@theme/Tabs';\n"
            "import Safety from '../_parts/safety.mdx';\n\nexport const secret = 'a secret of the code';\n\n"
            "<Tabs groupId='secret'>\n\nHands have five fingers.\n\n</Tabs>\n\n<Safety />\n",
            "module3/feet.md": "import Safety from '@site/docs/_parts/safety.mdx'\n\n"
            "# Feet\n\nFeet walk.\n\n<Safety />\n",
        },
    )
    report = sync_book()
    assert report.pages == PAGES + 2
    stored = passages()
    assert not any("secret" in passage.text or "import " in passage.text for passage in stored)
    hands = [passage for passage in stored if passage.source == "docs/module3/hands.mdx"]
    assert [(passage.chapter, passage.section, passage.text.split()) for passage in hands] == [
        ("Hands", "", "Hands have five fingers.".split()),
        ("Hands", "", ["Wear", "goggles."]),
        ("Hands", "Safety", "## Safety Keep your fingers away.".split()),
    ]
    feet = [passage.text.split() for passage in stored if passage.source == "docs/module3/feet.md"]
    assert ["Wear", "goggles."] in feet


def test_what_a_page_of_plain_markdown_does_not_show_is_not_ingested(docs: Path) -> None:
    text = """<!-- do not tell students -->
# Legs {#legs-id}

:::caution[Mind <b>the knee</b>]
Legs bend at the knee.<br/>They stretch too.
:::

<div class="hidden-class">Robots walk.</div> <!-- nor this -->
"""
    tabs = """# Feet

<Tabs>
<TabItem value="left" label="Left foot">

Steps first.

</TabItem>
</Tabs>
"""
    write_book(docs, {"module3/legs.md": text, "module3/feet.md": tabs})
    sync_book()
    (legs,) = (passage for passage in passages() if passage.source == "docs/module3/legs.md")
    shown = "# Legs Mind the knee Legs bend at the knee. They stretch too. Robots walk."
    assert (" ".join(legs.text.split()), legs.chapter) == (shown, "Legs")
    (feet,) = (passage for passage in passages() if passage.source == "docs/module3/feet.md")
    assert feet.text.split() == "# Feet Left foot Steps first.".split()
