"""Run a program's main function in a process forked from the tests, so that it needn't import anything again."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn


def run_forked(
    main: Callable[[list[str]], object], arguments: list[str], environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run `main(arguments)` in a folder with this environment and nothing to read."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        child = os.fork()
        if not child:
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            _run(main, arguments, environment, folder)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, status, output.read().decode(), errors.read().decode())


def _run(
    main: Callable[[list[str]], object], arguments: list[str], environment: Mapping[str, str], folder: Path
) -> NoReturn:
    """End this process with what main returns or exits with, as Python does."""
    status: object = 1
    try:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        # Of pytest.
        logging.getLogger().handlers.clear()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        status = main(arguments)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else status is not None)
