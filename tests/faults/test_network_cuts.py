"""The network is cut while texts are embedded, and a PDF uses up the memory of the process that reads it.

Crawls that are cut are in `test_following_sites.py`, and single calls in `providers/` and `sources/test_site_fetch.py`.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from faults.sound_library import write_files
from helpers import HashEmbedder
from providers.scripted_server import Ending, Reply, Request, ScriptedServer, embeddings
from sources.conftest import build_pdf
from stores.crash_processes import whole_documents

from answerable.answering.decide import Answering
from answerable.embedding.openai_embedder import OpenAIEmbedder
from answerable.errors import DamagedSource, ProviderError
from answerable.library import Library
from answerable.protocols import Passage
from answerable.providers.calling import CallPolicy
from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore

DIMENSION = 64
FILES = 30
WORDS = HashEmbedder(DIMENSION)


def embedded(request: Request) -> Reply:
    """What a server of OpenAI's protocol answers."""
    vectors = WORDS.embed_passages([Passage(text, ()) for text in request.body["input"]])
    return embeddings([each.whole.tolist() if each.whole.any() else np.ones(DIMENSION).tolist() for each in vectors])


def remote_library(folder: Path, server: ScriptedServer, retries: int) -> Library:
    """A library whose texts are embedded by the server, a few at a time."""
    policy = CallPolicy(timeout=5.0, retries=retries, first_wait=0.01)
    embedder = OpenAIEmbedder("words", DIMENSION, "key", f"{server.url}/v1", policy, most_texts=16)
    answerer = Answering()
    return Library(EmbeddedStore(folder), embedder, SplitterByType(200, 20), FileReader(), answerer)


@pytest.mark.parametrize("ending", [Ending.CUT, pytest.param(Ending.HANG, marks=pytest.mark.long)])
def test_a_network_that_goes_away_while_texts_are_embedded(tmp_path: Path, ending: Ending) -> None:
    files = write_files(tmp_path / "documents", *range(FILES))
    folder = tmp_path / "library"
    counted = itertools.count()

    def until_it_goes(request: Request) -> Reply:
        gone = Reply(200, {"Content-Type": "application/json"}, (b'{"object"', b": 1"), ending)
        return gone if next(counted) >= 3 else embedded(request)

    with ScriptedServer() as server:
        server.script("/v1/embeddings", until_it_goes)
        with remote_library(folder, server, 0) as library, pytest.raises(ProviderError, match=r"Check|again"):
            library.add(tmp_path / "documents")
        server.script("/v1/embeddings", embedded)
        with remote_library(folder, server, 0) as library:
            there = len(whole_documents(library))
            assert (there, library.waiting() > 0) == (FILES, True)
            report = library.add(tmp_path / "documents")
            assert (report.added, report.unchanged) == (FILES - there, there)
            assert (len(whole_documents(library)), library.waiting()) == (FILES, 0)
            assert library.verify().is_clean
            assert library.search("La estación midió lluvia")[0].document.source in map(str, files)


def test_a_network_that_comes_back_in_time_is_not_noticed(tmp_path: Path) -> None:
    write_files(tmp_path / "documents", *range(FILES))
    counted = itertools.count()

    def now_and_then(request: Request) -> Reply:
        return Reply(200, {}, (b"{", b""), Ending.CUT) if next(counted) % 2 else embedded(request)

    with ScriptedServer() as server:
        server.script("/v1/embeddings", now_and_then)
        with remote_library(tmp_path / "library", server, 3) as library:
            assert library.add(tmp_path / "documents").added == FILES
            assert library.verify(embed=0).is_clean


def test_a_pdf_that_uses_up_the_memory_ends_its_worker_only(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    write_files(documents, 1)
    (documents / "a-sound.pdf").write_bytes(build_pdf(["The pump costs 300 euros."]))
    (documents / "bomb.pdf").write_bytes(build_pdf(["x"] * 2_000, raw=[b"q " * 2_000_000]))
    (documents / "sound-too.pdf").write_bytes(build_pdf(["The valve costs 20 euros."]))
    reader = FileReader(ReadContext(ReadLimits(max_memory=120_000_000, max_seconds=240)))
    store = EmbeddedStore(tmp_path / "library")
    with Library(store, HashEmbedder(), SplitterByType(), reader, Answering()) as library:
        report = library.add(documents)
        (failure,) = report.failures
        assert failure.source.endswith("bomb.pdf")
        assert isinstance(failure.error, DamagedSource)
        assert "max_pdf_memory" in str(failure.error)
        assert report.added == len(whole_documents(library)) == 3
        assert library.verify().is_clean
