"""Connections to a PostgreSQL server: pool, time-outs, retries after a restart, translation of psycopg's errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from answerable.datatypes import FloatArray
from answerable.errors import LibraryBusy, LibraryDamaged, LibraryError, LibraryReadOnly, MissingPackage, SettingsError
from answerable.stores.addresses import PostgresAddress

try:
    import psycopg
    from psycopg import errors as errors
    from psycopg import sql as sql
    from psycopg.adapt import AdaptersMap, Dumper
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import Format
    from psycopg.rows import DictRow, dict_row
    from psycopg_pool import ConnectionPool, PoolClosed
except ImportError as error:
    raise MissingPackage("Libraries on PostgreSQL need the package psycopg", "postgres") from error

from answerable.stores.postgres import schema as postgres_schema
from answerable.stores.postgres.values import vector_to_bytes

Connection = psycopg.Connection[DictRow]
Result = TypeVar("Result")

# Most connections, so most threads that search at once. This and the next two are in docs/postgres.md; not measured.
_CONNECTIONS = 8
# Seconds that a call waits for a connection or a lock. A round number, not measured.
_PATIENCE = 60.0
# A restarting server ends one connection and may refuse the next, so the third try succeeds. A guess, not measured.
_TRIES = 3
# Executions of a statement before it is prepared: the third time a connection runs it, it is.
_PARSED = 2
# Plans use no parallel workers, so that the same question always gets the same sums, and are made for each query's
# values. Commits wait until their data is on disk.
_SESSION = {
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "lock_timeout": f"{_PATIENCE:.0f}s",
    "client_min_messages": "error",
}
_SYNCHRONOUS = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)

_READ_ONLY = (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege)
_BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure, errors.TooManyConnections)
_ENDED = (errors.AdminShutdown, errors.CrashShutdown)
_FULL = (errors.DiskFull, errors.OutOfMemory)
_DAMAGED = (
    *(errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction, errors.UndefinedObject),
    *(errors.InvalidSchemaName, errors.DataCorrupted, errors.IndexCorrupted),
)


class _VectorDumper(Dumper):
    """Sends vectors as bytes: as text, 384 numbers take a hundredth of a search's time to write, and again to read."""

    format = Format.BINARY

    def dump(self, obj: FloatArray) -> bytes:
        return vector_to_bytes(obj)


_ADAPTERS = AdaptersMap(psycopg.adapters)
_ADAPTERS.register_dumper(np.ndarray, _VectorDumper)


class Connections:
    """The connections of one library. Safe to share between threads. Raises only AnswerableErrors."""

    def __init__(self, address: PostgresAddress, create: bool) -> None:
        self._address = address
        _check_conninfo(address)
        self._settings = {
            **_SESSION,
            "statement_timeout": f"{address.statement_timeout * 1000:.0f}ms",
            # The schemas in which PostgreSQL looks up names, in order.
            "search_path": "",
        }
        with self.one() as connection:
            self._settings["search_path"] = postgres_schema.prepare(connection, address, create)
            self._configure(connection)
            self.is_writable = postgres_schema.is_writable(connection)
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            address.conninfo,
            connection_class=psycopg.Connection[DictRow],
            kwargs=_connection_options(),
            configure=self._configure,
            min_size=0,
            max_size=_CONNECTIONS,
            timeout=_PATIENCE,
            num_workers=1,
            open=True,
        )

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._pool.close()

    @contextmanager
    def one(self) -> Iterator[Connection]:
        """Open a connection outside the pool, whose settings the caller may change."""
        with self._translated(), psycopg.connect(self._address.conninfo, **_connection_options()) as connection:
            if self._settings["search_path"]:
                self._configure(connection)
            yield connection

    def run(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work` on a connection and return its result; if the connection is lost, run it again, at most twice.

        `work` must therefore be idempotent.
        """
        with self._translated():
            for left in reversed(range(_TRIES)):
                # Not `with self._pool.connection()`, which commits: no transaction is open.
                connection = self._pool.getconn()
                try:
                    return work(connection)
                except psycopg.OperationalError as error:
                    # The server's notice of a lost connection may arrive before the connection is closed, and so may
                    # the client's own errors, which have no state: "cannot exit pipeline mode while busy".
                    is_lost = connection.closed or error.sqlstate is None or isinstance(error, _ENDED)
                    if is_lost:
                        connection.close()
                    if not is_lost or not left:
                        raise
                finally:
                    self._pool.putconn(connection)
                # The pool's other connections were probably lost, too: let the pool check them.
                self._pool.check()
            raise AssertionError("unreachable")

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Like `run`, but in a transaction that excludes other writers of this library. Raise LibraryReadOnly."""
        if not self.is_writable:
            raise _read_only(self._address)

        def locked(connection: Connection) -> Result:
            with connection.transaction():
                connection.execute("SELECT FROM library FOR UPDATE")
                return work(connection)

        return self.run(locked)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Like `run`, but read everything from one snapshot."""

        def frozen(connection: Connection) -> Result:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                return work(connection)

        return self.run(frozen)

    def _configure(self, connection: Connection) -> None:
        calls = ", ".join("set_config(%s, %s, false)" for _ in self._settings)
        parameters = [text for setting in self._settings.items() for text in setting]
        connection.execute(f"SELECT {calls}", parameters)
        connection.execute(_SYNCHRONOUS)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise _translate(error, self._address) from error


def _connection_options() -> dict[str, Any]:
    # Prepared statements aren't parsed again, which saves a few per cent of a search.
    return {"autocommit": True, "prepare_threshold": _PARSED, "row_factory": dict_row, "context": _ADAPTERS}


def _check_conninfo(address: PostgresAddress) -> None:
    try:
        conninfo_to_dict(address.conninfo)
    except psycopg.ProgrammingError:
        # The error may quote the password.
        raise SettingsError(
            f"The address of the library {address.shown} has a parameter that PostgreSQL doesn't know, or a % that "
            "isn't followed by two hexadecimal digits. Correct it."
        ) from None


def _translate(error: psycopg.Error, address: PostgresAddress) -> LibraryError:
    text = " ".join((error.diag.message_primary or str(error)).split())
    where = address.shown
    if isinstance(error, _READ_ONLY):
        return _read_only(address)
    if isinstance(error, errors.QueryCanceled):
        return LibraryBusy(
            f"{where} took over {address.statement_timeout:g} seconds. Try again when it has less to do, or allow it "
            "more with ?statement_timeout=SECONDS in the library's address."
        )
    if isinstance(error, _BUSY):
        return LibraryBusy(f"{where} is busy ({text}). Try again when other processes are done.")
    if isinstance(error, _FULL):
        return LibraryError(
            f"The server of {where} has no space left ({text}). The document being added was not stored; "
            "free some space and add it again."
        )
    if isinstance(error, _DAMAGED):
        return LibraryDamaged(f"{where} is damaged ({text}). Restore it from a backup, or add your documents again.")
    if isinstance(error, PoolClosed):
        return LibraryError(f"The library {where} has been closed. Open it again.")
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return LibraryError(
            f"{where} can't be reached ({text}). Check that the server runs, that the database is there (createdb "
            "NAME), and the user and password of the library's address; then try again."
        )
    return LibraryError(f"{where} failed: {text}. Check the server, then try again.")


def _read_only(address: PostgresAddress) -> LibraryReadOnly:
    return LibraryReadOnly(
        f"The library {address.shown} can't be written to. Use a user who may, or another library with --library."
    )
