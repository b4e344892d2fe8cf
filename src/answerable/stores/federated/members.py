"""The libraries of a federation, asked in parallel. One that fails or is slow is left out until it answers again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

from answerable.errors import AnswerableError, LibraryError, LibraryNotFound, MissingPackage, SettingsError
from answerable.protocols import Fingerprint, Store
from answerable.threads import DaemonThreads

Mistakes: TypeAlias = "tuple[type[AnswerableError], ...]"

PATIENCE = 10.0
"""Seconds that a library may take for a call."""
BUSY = 5
"""How many times longer they may take where most are slow."""
PAUSE = 60.0
"""Seconds until a library that failed is tried again, while questions go on without it."""
MISTAKES: Mistakes = (LibraryNotFound, SettingsError, MissingPackage)
"""The mistakes of who names the libraries, rather than failures of one."""

Result = TypeVar("Result")
Call = Callable[[Store], Result]


@dataclass(slots=True)
class _Member:
    """A library, opened at the first call. `problem` is why it is left out, `until` when it is tried again."""

    name: str
    opening: Callable[[], Store]
    lock: threading.Lock
    store: Store | None = None
    problem: str = ""
    until: float = 0.0


class Members:
    """Libraries by name, each with what opens its store. Thread-safe.

    A library counts as failed if a call takes over `patience` seconds while others answer, and is tried again after
    `pause` seconds, in the background. With `closes`, closing closes the stores. Raise `mistakes` of opening, and
    LibraryError if no library can be opened; one that can't be is left out like one that fails later. `reason` says
    why one failed.
    """

    def __init__(
        self,
        opening: Mapping[str, Callable[[], Store]],
        patience: float = PATIENCE,
        pause: float = PAUSE,
        closes: bool = True,
        mistakes: Mistakes = MISTAKES,
        reason: Callable[[Exception], str] | None = None,
    ) -> None:
        self._members = [_Member(name, each, threading.Lock()) for name, each in opening.items()]
        self._patience = patience
        self._pause = pause
        self._closes = closes
        self._reason = reason or _reason
        self._threads = DaemonThreads()
        self._fingerprint: Fingerprint | None = None
        try:
            made_by = self.ask(self.all(lambda store: store.fingerprint), mistakes)
        except BaseException:
            self.close()
            raise
        self._fingerprint = next((each for _, each in sorted(made_by.items()) if each), None)
        for number, fingerprint in made_by.items():
            self._compare(self._members[number], fingerprint)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The embedder of the first library that has one; those with another are left out."""
        return self._fingerprint

    @property
    def unavailable(self) -> dict[str, str]:
        """The libraries that are left out at present, and why."""
        return {each.name: each.problem for each in self._members if each.problem}

    def name(self, number: int) -> str:
        """Return the name of a library."""
        return self._members[number].name

    def all(self, call: Call[Result]) -> dict[int, Call[Result]]:
        """Return the same call for every library."""
        return dict.fromkeys(range(len(self._members)), call)

    def ask(self, calls: Mapping[int, Call[Result]], mistakes: Mistakes = ()) -> dict[int, Result]:
        """Make calls of libraries, by number, at once; return what each that didn't fail returned, in their order.

        Raise `mistakes`, and LibraryError if no library at all is left.
        """
        begun = time.monotonic()
        running: dict[int, Future[Result]] = {}
        for number, call in calls.items():
            member = self._members[number]
            if not member.problem:
                running[number] = self._threads.submit(partial(self._call, member, call))
            elif begun >= member.until:
                member.until = begun + self._pause
                self._threads.submit(partial(self._try_again, member))
        found: dict[int, Result] = {}
        late = self._late(running.values())
        for number, each in running.items():
            member = self._members[number]
            try:
                if each in late:
                    self._leave_out(member, f"it didn't answer within {self._patience:g} seconds")
                else:
                    found[number] = each.result()
            except mistakes:
                raise
            except Exception as error:
                self._leave_out(member, self._reason(error))
        if all(each.problem for each in self._members):
            reasons = "; ".join(f"{each.name}: {each.problem}" for each in self._members)
            raise LibraryError(f"None of the libraries can be asked. {reasons}")
        return found

    def close(self) -> None:
        """Close the stores. Idempotent."""
        self._threads.close()
        for member in self._members:
            store, member.store = member.store, None
            if store is not None and self._closes:
                store.close()

    def _late(self, running: Collection[Future[Result]]) -> set[Future[Result]]:
        """Wait for calls, and return those that take too long."""
        done, late = wait(running, self._patience)
        if len(done) < len(running) // 2:
            # It isn't these libraries that are slow: the machine is busy, or all are being opened.
            _, late = wait(running, self._patience * BUSY)
        return late

    def _call(self, member: _Member, call: Call[Result]) -> Result:
        with member.lock:
            if member.store is None:
                member.store = member.opening()
        return call(member.store)

    def _try_again(self, member: _Member) -> None:
        """Ask a library that failed something cheap, and ask it again from now on if that works."""
        try:
            fingerprint = self._call(member, lambda store: store.fingerprint)
        except Exception as error:
            self._leave_out(member, self._reason(error))
            return
        if self._compare(member, fingerprint):
            member.problem = ""

    def _compare(self, member: _Member, fingerprint: Fingerprint | None) -> bool:
        """Return whether a library's vectors can be compared with the others'; leave it out if they can't."""
        if fingerprint in (None, self._fingerprint):
            return True
        self._leave_out(member, f"its vectors are {fingerprint}'s, those of the others {self._fingerprint}'s")
        return False

    def _leave_out(self, member: _Member, problem: str) -> None:
        member.until = time.monotonic() + self._pause
        member.problem = problem


def _reason(error: Exception) -> str:
    """Return why a library failed. The errors of a plug-in's store are its own."""
    return str(error) if isinstance(error, AnswerableError) else f"{type(error).__name__}: {error}"
