"""The OCR process: takes pages and picture files on stdin, sends the lines of each page on stdout.

It is a process of its own so that the file reader can give up a page that takes too long.
"""

from __future__ import annotations

import os
import re
import select
import sys
import time
from pathlib import Path
from typing import IO, Any

from answerable.sources.frames import read_pair, set_limit, write_pair
from answerable.sources.ocr.lines import PictureTooLarge

# Bytes: the models need 1.2 GB of address space to load and 2.7 GB with all shapes of lines; the rest is for pictures.
MEMORY = 5_000_000_000
IDLE = 60  # seconds without a request after which the process ends
IDLE_STATUS = 0  # the exit status of this process when it ends because it was idle


def main(folder: str, detector: str, recogniser: str) -> None:
    """Serve the process that started this one until it closes stdin, or sends no request for a minute."""
    set_limit("RLIMIT_AS", MEMORY)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What libraries print must not get between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    models: Any = None
    while (pair := _next(sys.stdin.buffer)) is not None:
        request, data = pair
        _allow_seconds(request["seconds"])
        try:
            if models is None:
                import numpy as np

                from answerable.sources.ocr.models import Models, pages

                models = Models(Path(folder), detector, recogniser)
            for page in pages(data):
                image = np.asarray(page)[:, :, ::-1]
                lines = [(line.text, line.box, line.before) for line in models.lines(image)]
                write_pair(answers, {"outcome": "page", "lines": lines}, b"")
                _allow_seconds(request["seconds"])
        except MemoryError:
            os._exit(1)
        except PictureTooLarge as error:
            write_pair(answers, {"outcome": "too large", "reason": str(error)}, b"")
        except Exception as error:
            # Decoders raise errors of any kind. Pillow's messages contain memory addresses of objects, which are
            # removed.
            reason = re.sub(r" ?<[^>]*>", "", f"{type(error).__name__}: {error}")[:200]
            write_pair(answers, {"outcome": "failed", "reason": reason}, b"")
        else:
            write_pair(answers, {"outcome": "done"}, b"")
    # Exit at once: the next request may be on its way, and this status says that the request wasn't read.
    os._exit(IDLE_STATUS)


def _next(requests: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    if os.name == "posix" and not select.select([requests], [], [], IDLE)[0]:
        return None
    return read_pair(requests)


def _allow_seconds(seconds: float) -> None:
    """Allow this many more seconds on each processor; the file reader waits no longer than that."""
    set_limit("RLIMIT_CPU", int(time.process_time() + seconds * (os.cpu_count() or 1)) + 5)
