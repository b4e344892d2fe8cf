"""Commands run one after the other in another process, which starts once for all of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PROGRAM = """
import json, sys
from interfaces.commands import run_here
for line in sys.stdin:
    arguments, environment = json.loads(line)
    done = run_here(*arguments, env=environment)
    print(json.dumps([done.returncode, done.stdout, done.stderr]), flush=True)
"""


class Commands:
    """The process, from the first command on. `environment` is all that it has."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None

    def run(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """What the command answers, `env` added to the environment for this one."""
        process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        print(json.dumps([[*map(str, arguments)], dict(env or {})]), file=process.stdin, flush=True)
        answer = process.stdout.readline()
        assert answer, f"the process ended with {process.wait()}"
        return subprocess.CompletedProcess(arguments, *json.loads(answer))

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process:
            self._process.communicate()

    def _start(self) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=self._environment, text=True, **pipes)
        return self._process
