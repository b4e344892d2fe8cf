"""Retries, waits and bounds, and what servers say."""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from answerable.errors import ProviderOverloaded, ProviderRefused, ProviderUnreachable, SettingsError
from answerable.providers.calling import Caller, CallPolicy, host_of, quoted, retry_after


class Failing:
    """Raises the errors it is given, one a call, and then returns how often it was called."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.calls


def caller(**policy: float) -> tuple[Caller, list[float]]:
    """A caller that notes its waits and doesn't sleep."""
    waits: list[float] = []
    return Caller(CallPolicy(**policy), sleep=waits.append), waits  # type: ignore[arg-type]


def test_what_may_help_is_tried_again_with_growing_waits() -> None:
    calls, waits = caller(first_wait=1.0, longest_wait=3.0)
    assert calls.call(Failing(*[ProviderUnreachable("gone")] * 4)) == 5
    assert len(waits) == 4
    assert all(0 <= wait <= longest for wait, longest in zip(waits, (1, 2, 3, 3), strict=True))


def test_the_last_error_is_raised_when_the_tries_are_up() -> None:
    calls, waits = caller(retries=2)
    attempt = Failing(*[ProviderUnreachable(f"try {number}") for number in range(5)])
    with pytest.raises(ProviderUnreachable, match="try 2"):
        calls.call(attempt)
    assert attempt.calls == 3
    assert len(waits) == 2


def test_what_cannot_help_is_not_tried_again() -> None:
    calls, waits = caller()
    with pytest.raises(ProviderRefused):
        calls.call(Failing(ProviderRefused("no")))
    assert waits == []


def test_errors_of_others_pass() -> None:
    with pytest.raises(ZeroDivisionError):
        caller()[0].call(Failing(ZeroDivisionError()))


def test_a_wait_that_is_asked_for_is_kept() -> None:
    calls, waits = caller(longest_wait=1.0)
    calls.call(Failing(ProviderOverloaded("slow down", 7.5), ProviderOverloaded("slow down", 0.0)))
    assert waits == [7.5, 0.0]


def test_no_wait_goes_beyond_the_time_of_all_tries() -> None:
    calls, waits = caller(total=60.0)
    with pytest.raises(ProviderOverloaded):
        calls.call(Failing(ProviderOverloaded("come back tomorrow", 86_400.0)))
    assert waits == []


def test_no_more_calls_are_under_way_than_allowed() -> None:
    calls = Caller(CallPolicy(concurrency=2))
    both = threading.Barrier(2)
    under_way: list[int] = []
    most: list[int] = []

    def work() -> None:
        with calls.slots:
            under_way.append(1)
            most.append(len(under_way))
            both.wait(30)
            # A third one would have the time to come in.
            time.sleep(0.02)
            under_way.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 8
    assert max(most) == 2


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "150", "retry-after": "3"}, 0.15),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_response_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_the_wait_may_be_a_date() -> None:
    date = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=90), usegmt=True)
    seconds = retry_after({"retry-after": date})
    assert seconds is not None
    assert 85 < seconds <= 90


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("bad key abcdefgh-1234, sorry", "bad key [key] sorry"),
        ("bad key abcdefgh…", "bad key [key]"),
        ("bad key abcd\u200befgh-1234", "bad key [key]"),
        ("of another: sk-proj-Ab_c*****xyz.", "of another: [key]"),
        ("two\nlines\x1b[31m red\x9b0m \x1b]0;title\x07\u202egnp", "two lines red gnp"),
        ("\x1b]8;;https://evil.example/\x1b\\log in\x1b]8;;\x1b\\", "log in"),
        ("log in at HTTPS://evil.example/ or mailto:a@b.example", "log in at evil.example/ or a@b.example"),
        ("an escape that never ends \x1b]8;;x", "an escape that never ends ]8;;x"),
        ("x" * 400, "x" * 300 + "…"),
        ("x" * 295 + " abcdefgh-1234", "x" * 295 + " [key…"),
    ],
)
def test_what_a_server_says_is_fit_to_be_shown(said: str, shown: str) -> None:
    assert quoted(said, "abcdefgh-1234") == shown


def test_a_key_is_no_pattern() -> None:
    assert quoted("bad key a+b(c?d|-secret!", "a+b(c?d|-secret") == "bad key [key]"


def test_a_short_key_is_blacked_out_too() -> None:
    assert quoted("the key is k9, not k8", "k9") == "the key is [key], not k8"


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://api.openai.com/v1", "api.openai.com"),
        ("http://localhost:11434/v1", "localhost:11434"),
        ("https://user:secret@Host.example:8443", "host.example:8443"),
    ],
)
def test_the_host_of_an_address(address: str, host: str) -> None:
    assert host_of(address, "OPENAI_BASE_URL", "http://localhost:11434/v1") == host


@pytest.mark.parametrize(
    "address",
    ["", "localhost:11434", "ftp://host", "http://", "http://host:secret", "http://host:99999", "http://[::1"],
)
def test_what_is_no_address_names_the_setting_and_is_not_shown(address: str) -> None:
    with pytest.raises(SettingsError) as caught:
        host_of(address, "CO_API_URL", "https://api.cohere.com")
    assert str(caught.value) == "CO_API_URL is not a valid address. Use one like https://api.cohere.com."
