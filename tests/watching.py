"""Run programs under strace, and find processes that contact other machines or write outside allowed folders."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from itertools import chain
from pathlib import Path

_NETWORK = ("connect", "sendto", "sendmsg", "sendmmsg")
_OPENING = ("open", "openat", "openat2", "creat")
_NAMING = ("mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat")
_LOCAL = {"AF_UNIX", "AF_NETLINK", "AF_UNSPEC"}
# Names are looked up through these, by a local service where there is one.
_DNS_PORTS = {53, 853, 5353}
_NAME_SERVICE = "io.systemd.Resolve"

_FAMILY = re.compile(r"sa_family=(AF_\w+)")
_ADDRESS = re.compile(r'port=htons\((\d+)\)(?:.*?)inet_(?:addr|pton)\((?:AF_INET6, )?"([^"]+)"')
# Of a socket that was connected before.
_PEER = re.compile(r"->\[?([0-9a-f.:]+)\]?:(\d+)\]>")
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE|^creat")
_OPENED = re.compile(r"\) += \d+<(/[^<>]*)")
# The last name is that of what is there now; before it may be the folder that it is meant in.
_NAMED = re.compile(r'(?:<(/[^<>]*)>, )?"((?:[^"\\]|\\.)*)"[^"]*\) += 0$')


SERVING = r"""
import re, subprocess, sys, urllib.request

path, body, *command = sys.argv[1:]
server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
address = next(filter(None, (re.search(r"http://127.0.0.1:\d+", line) for line in server.stdout)))[0]
request = urllib.request.Request(address + path, body.encode(), {"Content-Type": "application/json"})
print(urllib.request.urlopen(request, timeout=120).read().decode())
server.terminate()
server.wait()
"""
"""A program that starts a server by a command, sends it one request and ends it: `path`, `body` and the command."""


@dataclass(frozen=True)
class Watched:
    """What a program and all its descendants did. `offences` are calls of the system that they shouldn't have made."""

    status: int
    stdout: str
    stderr: str
    offences: list[str]


def watch(
    command: Sequence[str | Path], folder: Path, *writable: Path, typed: str = "", cwd: Path | None = None, **more: str
) -> Watched:
    """Runs a command as a user with an empty home, until the last of its descendants has ended.

    It runs in the `cwd`, otherwise in its home, `folder/home`. It may write into the library, cache and configuration
    folders there, into a folder for temporary files and into what is `writable`. `more` are environment variables.
    """
    home, log = folder / "home", folder / "calls"
    home.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(log, ignore_errors=True)
    log.mkdir()
    # The tests' environment may hold what makes packages keep still, such as CI.
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as temporary:
        done = subprocess.run(
            [*tracer(log), *map(str, command)],
            cwd=cwd or home,
            env={**environment, "LANG": "C.UTF-8", "TMPDIR": temporary, **more},
            input=typed,
            capture_output=True,
            encoding="utf-8",
            timeout=240,
        )
        kept = [home / name / "answerable" for name in (".cache", ".config", ".local/share")]
        return Watched(done.returncode, done.stdout, done.stderr, offences(log, *kept, Path(temporary), *writable))


def assert_kept_still(watched: Watched, printed: str) -> None:
    """It did its work, and nothing else."""
    assert watched.status == 0, watched.stderr
    assert watched.offences == []
    assert printed in watched.stdout


@cache
def _compile_sources() -> None:
    """Compile the sources, as pip does on installing; in a checkout the first import would write the files."""
    for folder in ("src", "apps"):
        compileall.compile_dir(Path(__file__).parents[1] / folder, quiet=2)


def tracer(log: Path) -> list[str]:
    """The start of a command line whose processes are traced, each to a file in this folder."""
    _compile_sources()
    # Processors differ in which of them they have.
    calls = ",".join(f"?{name}" for name in (*_NETWORK, *_OPENING, *_NAMING))
    quiet = ["-qq", "-e", "signal=none"]
    return ["strace", "-ff", "--seccomp-bpf", "-yy", *quiet, "-e", f"trace={calls}", "-o", str(log / "process")]


def offences(log: Path, *writable: Path) -> list[str]:
    """The calls of all processes that reach other machines, or write elsewhere than in these folders, once each."""
    allowed = [f"{Path(folder).resolve()}/" for folder in (*writable, Path("/dev"), Path("/proc"))]
    files = sorted(log.iterdir())
    assert files, "strace wrote nothing: may it trace processes here (ptrace)?"
    lines = chain.from_iterable(file.read_text("utf-8", "replace").splitlines() for file in files)
    return list(dict.fromkeys(line for line in lines if _is_sent(line) or _is_written(line, allowed)))


def _is_sent(line: str) -> bool:
    # Of two hosts that exchange datagrams, connecting tells the other nothing.
    if not line.startswith(_NETWORK) or re.match(r"connect\(\d+<UDP", line):
        return False
    addresses = [(host, int(port)) for port, host in _ADDRESS.findall(line)] + [
        (host, int(port)) for host, port in _PEER.findall(line)
    ]
    if not addresses:
        return not _LOCAL.issuperset(_FAMILY.findall(line)) or _NAME_SERVICE in line
    return any(port in _DNS_PORTS or not _is_this_machine(host) for host, port in addresses)


def _is_this_machine(host: str) -> bool:
    address = ip_address(host)
    address = getattr(address, "ipv4_mapped", None) or address
    # The unspecified address is this machine, too.
    return address.is_loopback or address.is_unspecified


def _is_written(line: str, allowed: Sequence[str]) -> bool:
    if line.startswith(_OPENING) and _WRITES.search(line):
        names = _OPENED.findall(line)
    else:
        names = [os.path.join(*names) for names in _NAMED.findall(line)] if line.startswith(_NAMING) else []
    # Folders on the way to where it may write are made, too.
    return any(
        not name.startswith(tuple(allowed)) and not any(folder.startswith(f"{name}/") for folder in allowed)
        for name in names
    )
