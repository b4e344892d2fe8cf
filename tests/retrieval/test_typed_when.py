"""Test times that people type as filters."""

from __future__ import annotations

from datetime import date, datetime

from answerable.retrieval.times import days_of, typed_when

SUNDAY = datetime(2026, 11, 22, 15, 0)


def test_a_typed_time_is_its_days() -> None:
    cases = [
        ("yesterday", "2026-11-21", "2026-11-21"),
        ("  Yesterday evening ", "2026-11-21", "2026-11-21"),
        ("today", "2026-11-22", "2026-11-22"),
        ("last week", "2026-11-09", "2026-11-15"),
        ("3 days ago", "2026-11-19", "2026-11-19"),
        ("the last 7 days", "2026-11-15", "2026-11-22"),
        ("March", "2026-03-01", "2026-03-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("Mar 2024", "2024-03-01", "2024-03-31"),
        ("the 5th of March", "2026-03-05", "2026-03-05"),
        ("March 5, 2024", "2024-03-05", "2024-03-05"),
        ("since Monday", "2026-11-16", "2026-11-16"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("2024-03", "2024-03-01", "2024-03-31"),
        ("2024-12", "2024-12-01", "2024-12-31"),
        ("2024", "2024-01-01", "2024-12-31"),
        ("2030", "2030-01-01", "2030-12-31"),
        ("5/3/2024", "2024-03-05", "2024-03-05"),
        ("ayer", "2026-11-21", "2026-11-21"),
        ("hace 3 días", "2026-11-19", "2026-11-19"),
        ("hace 3 dias", "2026-11-19", "2026-11-19"),
        ("la semana pasada", "2026-11-09", "2026-11-15"),
        ("semana pasada", "2026-11-09", "2026-11-15"),
        ("marzo", "2026-03-01", "2026-03-31"),
        ("desde el 5 de marzo", "2026-03-05", "2026-03-05"),
        ("marzo de 2024", "2024-03-01", "2024-03-31"),
        ("año pasado", "2025-01-01", "2025-12-31"),
        ("ontem", "2026-11-21", "2026-11-21"),
        ("há 3 dias", "2026-11-19", "2026-11-19"),
        ("3 dias atrás", "2026-11-19", "2026-11-19"),
        ("semana passada", "2026-11-09", "2026-11-15"),
        ("março/2024", "2024-03-01", "2024-03-31"),
        ("segunda-feira", "2026-11-16", "2026-11-16"),
    ]
    for typed, first, last in cases:
        period = typed_when(typed, SUNDAY)
        assert period is not None, typed
        assert days_of(period) == (date.fromisoformat(first), date.fromisoformat(last)), typed


def test_what_is_no_time_is_none() -> None:
    cases = [
        "",
        "soon",
        "next week",
        "before March",
        "Q1 2024",
        "31/02/2024",
        "2024-13",
        "3 days",
        "yesterday at the harbour",
    ]
    failed = [typed for typed in cases if typed_when(typed, SUNDAY) is not None]
    assert failed == []
