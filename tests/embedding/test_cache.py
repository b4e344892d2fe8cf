"""Test that the cache prevents embedding a text twice, and that a damaged cache file only costs time."""

from __future__ import annotations

import gc
import multiprocessing
import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers import HashEmbedder

from answerable.embedding.cache import LOOKUP, CachedEmbedder
from answerable.protocols import Passage, PassageVectors

BIG = 1_000_000_000


def passages(count: int, first: int = 0) -> list[Passage]:
    return [Passage(f"texto número {number} de la caché", ((0, 5), (6, 12))) for number in range(first, first + count)]


def assert_equal(one: Sequence[PassageVectors], other: Sequence[PassageVectors]) -> None:
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        assert np.array_equal(left.whole, right.whole)
        assert np.array_equal(left.spans, right.spans)
        assert left.whole.dtype == right.spans.dtype == np.float32


def test_nothing_is_embedded_twice(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, tmp_path / "cache.db", BIG)
    first = cached.embed_passages(passages(20))
    again = cached.embed_passages(passages(25))
    assert embedder.embedded == 25
    assert (cached.hits, cached.embedded) == (20, 25)
    assert_equal(first, again[:20])
    # Another process finds it too.
    other = HashEmbedder()
    assert_equal(CachedEmbedder(other, tmp_path / "cache.db", BIG).embed_passages(passages(25)), again)
    assert other.embedded == 0


def test_what_is_forgotten_is_in_no_file(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, tmp_path / "cache.db", BIG)
    cached.embed_passages(passages(200))
    gone = passages(200)[::3]
    kept = [passage for passage in passages(200) if passage not in gone]
    traces = {bytes(cached._key(passage)) for passage in gone}
    traces |= {np.asarray(vectors.whole, np.float16).tobytes() for vectors in embedder.embed_passages(gone)}
    traces -= {np.asarray(vectors.whole, np.float16).tobytes() for vectors in embedder.embed_passages(kept)}
    assert len(traces) > 67

    def left() -> list[bytes]:
        data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        return [trace for trace in traces if trace in data]

    assert len(left()) == len(traces)
    for passage in gone[:-1:2]:
        cached.forget([passage])
    cached.forget(gone)
    assert left() == []
    before = embedder.embedded
    cached.embed_passages(kept)
    assert embedder.embedded == before
    cached.embed_passages(gone[:2])
    assert embedder.embedded == before + 2


def test_equal_passages_in_one_call_are_embedded_once(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, tmp_path / "cache.db", BIG)
    found = cached.embed_passages(passages(1) * 5 + passages(2))
    assert embedder.embedded == 2
    assert_equal(found[:1] * 6, found[:6])


def test_the_vectors_are_the_embedders(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, tmp_path / "cache.db", BIG)
    assert cached.fingerprint == embedder.fingerprint
    assert np.array_equal(cached.embed_query("una pregunta"), embedder.embed_query("una pregunta"))
    assert cached.count_tokens(["una pregunta", ""]) == [2, 0]
    for own, kept in zip(embedder.embed_passages(passages(9)), cached.embed_passages(passages(9)), strict=True):
        assert kept.whole @ own.whole == pytest.approx(1, abs=1e-6)
        assert np.allclose(kept.spans, own.spans, atol=1e-3)
        assert np.linalg.norm(kept.whole) == pytest.approx(1, abs=1e-6)


def test_what_differs_in_text_spans_or_embedder_is_kept_apart(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, tmp_path / "cache.db", BIG)
    different = [
        Passage("uno dos"),
        Passage("uno dos", ((0, 3),)),
        Passage("uno dos", ((0, 3), (4, 7))),
        Passage("Uno dos"),
        Passage("uno dos "),
        Passage("uno\0dos"),
        Passage(""),
        Passage("a\ud800"),
    ]
    found = cached.embed_passages(different)
    assert embedder.embedded == len(different)
    assert [len(vectors.spans) for vectors in found] == [0, 1, 2, 0, 0, 0, 0, 0]
    assert_equal(cached.embed_passages(different), found)
    assert embedder.embedded == len(different)
    other = HashEmbedder(32)
    assert CachedEmbedder(other, tmp_path / "cache.db", BIG).embed_passages(different)[0].whole.shape == (32,)
    assert other.embedded == len(different)


def test_a_model_of_another_server_is_another_one(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    provider = embedder.fingerprint.provider
    old = CachedEmbedder(embedder, tmp_path / "cache.db", BIG)
    old.embed_passages(passages(3))
    for number, address in enumerate(["http://one/v1", "http://two/v1", "default"], 2):
        cached = CachedEmbedder(embedder, tmp_path / "cache.db", BIG, {provider: address, "other": "http://x"})
        for _ in range(2):
            cached.embed_passages(passages(3))
        assert embedder.embedded == 3 * number
    # What this machine embeds has no address, and is found as before.
    elsewhere = CachedEmbedder(embedder, tmp_path / "cache.db", BIG, {"other": "http://x"})
    elsewhere.embed_passages(passages(3))
    assert elsewhere.hits == 3


def test_what_is_kept_can_be_embedded_anew(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, tmp_path / "cache.db", BIG)
    assert cached.embed(passages(3))[1] == 3
    assert cached.embed(passages(4))[1] == 1
    with sqlite3.connect(tmp_path / "cache.db") as database:
        database.execute("UPDATE cache SET vectors = (SELECT vectors FROM cache ORDER BY number LIMIT 1)")
    database.close()
    wrong = cached.embed_passages(passages(4))
    assert np.array_equal(wrong[0].whole, wrong[3].whole)
    anew, embedded = cached.embed(passages(4) + passages(1), anew=True)
    assert embedded == 4
    assert not np.array_equal(anew[0].whole, anew[3].whole)
    assert_equal(cached.embed_passages(passages(4)), anew[:4])


def test_more_passages_than_one_query_takes(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, tmp_path / "cache.db", BIG)
    found = cached.embed_passages(passages(2 * LOOKUP + 1))
    assert_equal(cached.embed_passages(passages(2 * LOOKUP + 1)), found)
    assert embedder.embedded == 2 * LOOKUP + 1
    assert cached.embed_passages([]) == []


@pytest.mark.parametrize("part", ["beginning", "middle", "end", "all", "cut", "empty"])
def test_a_damaged_file_only_costs_time(tmp_path: Path, part: str) -> None:
    path = tmp_path / "cache.db"
    expected = CachedEmbedder(HashEmbedder(), path, BIG).embed_passages(passages(100))
    # The first cache's connection goes with it.
    gc.collect()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    data = bytearray(path.read_bytes())
    half = len(data) // 2
    noise = random.Random(part).randbytes
    if part in ("beginning", "all"):
        data[:half] = noise(half)
    if part in ("end", "all"):
        data[half:] = noise(len(data) - half)
    if part == "middle":
        data[half : half + 20_000] = noise(20_000)
    if part == "cut":
        del data[half:]
    if part == "empty":
        data.clear()
    path.write_bytes(data)
    for name in ("cache.db-wal", "cache.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, path, BIG)
    for _ in range(2):
        assert_equal(cached.embed_passages(passages(100)), expected)
    assert embedder.embedded > 0


def test_a_vector_that_cannot_be_one_is_embedded_again(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    expected = CachedEmbedder(HashEmbedder(), path, BIG).embed_passages(passages(40))
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT number, length(vectors) FROM cache ORDER BY number").fetchall()
        for number, length in rows[:10]:
            wrong = [b"", b"x", random.Random(number).randbytes(length), b"\xff" * length, b"\x7c" * length]
            database.execute("UPDATE cache SET vectors = ? WHERE number = ?", (wrong[number % 5], number))
    database.close()
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, path, BIG)
    assert_equal(cached.embed_passages(passages(40)), expected)
    assert embedder.embedded == 10
    assert_equal(cached.embed_passages(passages(40)), expected)
    assert embedder.embedded == 10


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, tmp_path / "file" / "cache.db", BIG)
    assert len(cached.embed_passages(passages(3))) == 3
    assert embedder.embedded == 3


def test_the_oldest_go_when_it_is_full(tmp_path: Path) -> None:
    limit = 200_000
    cached = CachedEmbedder(HashEmbedder(), tmp_path / "cache.db", limit)
    for first in range(0, 2000, 50):
        cached.embed_passages(passages(50, first))
    with sqlite3.connect(tmp_path / "cache.db") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (kept,) = database.execute("SELECT count(*) FROM cache").fetchone()
    database.close()
    assert 50 < kept < 1000
    assert (tmp_path / "cache.db").stat().st_size < limit * 1.5
    before = cached.embedded
    cached.embed_passages(passages(50, 1950))
    assert cached.embedded == before
    cached.embed_passages(passages(50))
    assert cached.embedded == before + 50


def test_no_room_at_all(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashEmbedder(), tmp_path / "cache.db", 0)
    assert_equal(cached.embed_passages(passages(5)), cached.embed_passages(passages(5)))


def _embed(path: Path, first: int) -> int:
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, path, BIG)
    for start in range(first, first + 200, 10):
        cached.embed_passages(passages(10, start))
    return embedder.embedded


def test_two_processes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        embedded = pool.starmap(_embed, [(path, 0), (path, 100)])
    # What both had at the same moment is embedded by both; nothing is lost.
    assert 300 <= sum(embedded) <= 400
    embedder = HashEmbedder()
    found = CachedEmbedder(embedder, path, BIG).embed_passages(passages(300))
    assert embedder.embedded == 0
    assert_equal(found, CachedEmbedder(HashEmbedder(), tmp_path / "other.db", BIG).embed_passages(passages(300)))
