"""What every reader of sources does, and a library with it: read, follow, and notice what changed and what is gone."""

from __future__ import annotations

import mailbox
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import pytest
from helpers import HashEmbedder
from third_party.small_source import read_mail

from answerable.answering.decide import Answering
from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.library import Library
from answerable.protocols import Reader, SyncRecord, Visited
from answerable.sources.file_reader import FileReader
from answerable.sources.function import FunctionReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore

Texts = Mapping[str, str]
TEXTS = {"tools": "A member may borrow up to five tools.", "garden": "Tomatoes need six hours of sun a day."}


@dataclass(frozen=True)
class Kind:
    """A reader, where its source is in a folder, and how texts are written there."""

    make: Callable[[], Reader]
    source: str
    write: Callable[[Path, Texts], None]


def write_files(folder: Path, texts: Texts) -> None:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")


def write_mail(path: Path, texts: Texts) -> None:
    path.unlink(missing_ok=True)
    with closing(mailbox.mbox(path)) as box:
        for name, text in texts.items():
            message = EmailMessage()
            message["Message-ID"], message["Subject"] = f"<{name}@example.org>", name
            message.set_content(text)
            box.add(message)


KINDS = {
    "files": Kind(FileReader, "texts", write_files),
    "third party": Kind(lambda: FunctionReader(read_mail), "inbox.mbox", write_mail),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """How one kind of source is read and written."""
    return KINDS[request.param]


def visited(reader: Reader, source: Path, known: Mapping[str, SyncRecord]) -> tuple[list[Visited], list[str]]:
    """What a visit yields once each thing has been read, and what is gone."""
    with closing(reader.visit(str(source))) as visit:
        found = [each for each in visit.items(known) if not each.is_being_read]
        assert visit.total == len(found)
        return found, visit.gone()


def test_a_listing_is_steady_and_its_documents_are_told_apart(kind: Kind, tmp_path: Path) -> None:
    kind.write(tmp_path / kind.source, TEXTS)
    with closing(kind.make()) as reader:
        once, again = (
            [document for item in reader.listing(str(tmp_path / kind.source)) for document in item.read()]
            for _ in range(2)
        )
    assert once == again
    assert sorted(document.content.strip() for document in once) == sorted(TEXTS.values())
    assert len({document.id for document in once}) == len({document.source for document in once}) == len(TEXTS)


def test_where_there_is_nothing_to_read(kind: Kind, tmp_path: Path) -> None:
    with closing(kind.make()) as reader:
        for source in (tmp_path / "nothing", tmp_path / kind.source):
            with pytest.raises(SourceError):
                reader.listing(str(source))
            with pytest.raises(SourceError):
                visited(reader, source, {})
            kind.write(tmp_path / kind.source, {})


def test_a_visit_tells_new_unchanged_changed_and_gone(kind: Kind, tmp_path: Path) -> None:
    source = tmp_path / kind.source
    kind.write(source, TEXTS)
    with closing(kind.make()) as reader:
        found, gone = visited(reader, source, {})
        assert sorted(each.documents[0].content.strip() for each in found) == sorted(TEXTS.values())
        assert gone == []
        known = {each.source: each.record for each in found if each.record}
        assert len(known) == len(TEXTS)
        found, gone = visited(reader, source, known)
        assert [each.is_unchanged for each in found] == [True, True]
        kind.write(source, {"tools": "A member may borrow up to six tools."})
        found, gone = visited(reader, source, known)
        assert [each.documents[0].content.strip() for each in found] == ["A member may borrow up to six tools."]
        assert found[0].source in known
        assert gone == [each for each in known if each != found[0].source]


def test_a_library_answers_from_it_and_follows_it(kind: Kind, tmp_path: Path) -> None:
    source = tmp_path / kind.source
    kind.write(source, TEXTS)
    splitter, answerer = SplitterByType(200, 20), Answering()
    with Library(MemoryStore(), HashEmbedder(), splitter, kind.make(), answerer) as library:
        assert library.add(source).added == 2
        (citation, *_) = library.ask("How many tools may a member borrow?").citations
        document = library.document(citation.document_id)
        assert document.content[citation.start : citation.end] == citation.quote
        assert "five tools" in citation.quote
        assert library.sync().total.unchanged == 2
        kind.write(source, {"tools": "A member may borrow up to six tools."})
        total = library.sync().total
        assert (total.changed, total.removed, total.added) == (1, 1, 0)
        assert "six tools" in library.ask("How many tools may a member borrow?").text


def test_documents_without_a_source_of_their_own_are_refused() -> None:
    for second in ("", "a"):
        documents = [Document.from_text("x", source=source) for source in ("a", second)]
        reader = FunctionReader({"anything": documents}.__getitem__)
        with pytest.raises(SourceError, match="Give each document a source of its own"):
            reader.listing("anything")
