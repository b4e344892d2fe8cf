"""What is kept of conversations."""

from __future__ import annotations

from pathlib import Path

from answerable.datatypes import Exchange
from src.services.history import MOST_EXCHANGES, History


def exchange(number: int) -> Exchange:
    return Exchange(f"q{number}", f"s{number}", f"a{number}")


def test_the_latest_exchanges_are_kept(tmp_path: Path) -> None:
    history = History(tmp_path / "sessions.db")
    for number in range(MOST_EXCHANGES + 5):
        history.add("one", exchange(number))
    kept = history.exchanges("one")
    assert kept == [exchange(number) for number in range(5, MOST_EXCHANGES + 5)]
    assert history.exchanges("other") == []


def test_what_is_too_old_or_too_much_is_forgotten(tmp_path: Path) -> None:
    now = [0.0]
    history = History(tmp_path / "sessions.db", days=1, most_sessions=2, now=lambda: now[0])
    for number in range(3):
        now[0] = number
        history.add(f"s{number}", exchange(number))
    assert [len(history.exchanges(f"s{number}")) for number in range(3)] == [0, 1, 1]
    now[0] = 86_400 + 1.5
    assert [len(history.exchanges(f"s{number}")) for number in range(3)] == [0, 0, 1]


def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    History(tmp_path / "sessions.db").close()
    assert (tmp_path / "sessions.db").stat().st_mode & 0o077 == 0
