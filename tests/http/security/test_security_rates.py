"""How often something may happen, counted exactly."""

from __future__ import annotations

from answerable.interfaces.http.guards.callers import MovingWindow


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_window_moves_with_time_and_refusals_do_not_count() -> None:
    clock = Clock()
    window = MovingWindow(3, 60.0, clock)
    for clock.now in (0.0, 10.0, 20.0):
        assert window.hit("a") == 0
    for clock.now in (20.0, 50.0, 59.0):
        assert window.hit("a") == 60 - clock.now
    assert window.hit("b") == 0
    clock.now = 60.0
    assert window.hit("a") == 0
    assert window.hit("a") == 10


def test_no_minute_holds_more_than_the_limit_however_it_is_cut() -> None:
    clock = Clock()
    window = MovingWindow(10, 60.0, clock)
    allowed = []
    for second in range(600):
        clock.now = second * 0.7
        if window.hit("a") == 0:
            allowed.append(clock.now)
    for start in allowed:
        assert sum(start <= moment < start + 60 for moment in allowed) <= 10
    assert len(allowed) == 10 * 7


def test_a_limit_of_nothing_allows_nothing() -> None:
    assert MovingWindow(0).hit("a") > 0


def test_names_that_come_once_are_forgotten() -> None:
    clock = Clock()
    window = MovingWindow(5, 60.0, clock)
    for number in range(10_000):
        clock.now = number * 0.1
        window.hit(str(number))
    assert len(window) <= 601
