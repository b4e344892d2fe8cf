"""Libraries to verify: on every store, of real files, with an embedder that costs nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from helpers import HashEmbedder
from made_files import epub, zipped
from postgres_server import new_library
from qdrant_server import api_key
from qdrant_server import new_library as new_qdrant_library
from sources.site.site_visits import QUICK

from answerable.answering.decide import Answering
from answerable.library import Library
from answerable.maintenance.verification.findings import VerifyReport
from answerable.protocols import Embedder, Reader, Store, Visit
from answerable.sources.file_reader import FileReader
from answerable.sources.site.connection import AddressGuard
from answerable.sources.site.fetch import Fetcher
from answerable.sources.site.visit import SiteVisit
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.qdrant.store import QdrantStore

EXAMPLES = Path(__file__).parents[2] / "examples"
STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "embedded": lambda folder: EmbeddedStore(folder / "library"),
    "postgres": lambda folder: PostgresStore(new_library()),
    "qdrant": lambda folder: QdrantStore(new_qdrant_library(), key=api_key()),
}


class SiteReader(FileReader):
    """Visits sites on this machine without pauses."""

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """A visit to the site."""
        return SiteVisit(source, Fetcher(AddressGuard(["127.0.0.1"]), QUICK), self)


def opened(store: Store, embedder: Embedder | None = None, reader: Reader | None = None) -> Library:
    """A library on a store, with short passages."""
    splitter = SplitterByType(300, 40)
    return Library(store, embedder or HashEmbedder(), splitter, reader or FileReader(), Answering())


def write_files(folder: Path) -> Path:
    """A folder with a file of every kind."""
    shutil.copytree(EXAMPLES, folder)
    chat = "".join(f"5/3/24, 21:{minute} - Ana: Nos vemos a las {minute}.\n" for minute in range(10, 40))
    members = {"WhatsApp Chat with Ana.txt": chat}
    (folder / "chat.zip").write_bytes(zipped(members))
    (folder / "texts.zip").write_bytes(zipped({"a/one.txt": "One text.\n" * 60, "b.md": "# Two\n\nAnother text.\n"}))
    (folder / "book.epub").write_bytes(epub())
    (folder / "rows.csv").write_text("name,price\n" + "".join(f"thing {number},{number}\n" for number in range(80)))
    (folder / "code.py").write_text("def pump(speed: int) -> int:\n    return speed * 2\n\n\nPUMPS = pump(3)\n")
    (folder / "data.json").write_text('[{"id": 1, "text": "Pears are sweet."}, {"id": 2, "text": "Lemons are sour."}]')
    (folder / "odd.txt").write_bytes(" \n\n  Čaj \x00 a káva.\r\n\r\nTab\there.\x0cNext page.  \n".encode())
    return folder


def write_quick_files(folder: Path) -> Path:
    """The same without those that take long to read."""
    write_files(folder)
    for slow in ("book.epub", "horta-na-varanda.html", "riverside-library-rules.pdf"):
        (folder / slow).unlink()
    return folder


def kinds(report: VerifyReport) -> dict[str, set[str]]:
    """What was found, by name."""
    found: dict[str, set[str]] = {}
    for finding in report.findings:
        found.setdefault(Path(finding.name).name, set()).add(str(finding.kind))
    return found
