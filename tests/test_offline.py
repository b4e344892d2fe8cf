"""Nothing leaves the machine: adding and asking opens no connection and looks up no name."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"

PROGRAM = """
import os, sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        os.write(2, f"{event} {arguments!r}\\n".encode())
        os._exit(3)

sys.addaudithook(refuse)
import answerable

with answerable.open(sys.argv[1]) as library:
    assert library.add(sys.argv[2]).added == 4
    assert library.ask("¿Cuál es el código de la reserva?").answered
"""


def test_adding_and_asking_opens_no_connection(tmp_path: Path) -> None:
    environment = {**os.environ, "ANSWERABLE_CACHE_FOLDER": str(tmp_path / "cache")}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "library"), str(EXAMPLES)]
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # The check itself works: the same hook stops a program that does connect.
    connecting = PROGRAM.replace("import answerable", "import socket; socket.create_connection(('127.0.0.1', 9))")
    stopped = subprocess.run([*command[:2], connecting, *command[3:]], stderr=subprocess.PIPE, text=True, check=False)
    assert stopped.returncode == 3
