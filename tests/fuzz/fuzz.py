"""Fuzzes one parser: `python fuzz.py TARGET [FILE or option of libFuzzer …]`; with files it runs just these.

By atheris, which looks at what code an input reaches: it finds what lies behind a mark or a length that random inputs
hardly ever get right, and it reduces what it finds.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from functools import partial
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.dont_write_bytecode = True

import atheris  # noqa: E402
from fuzz_targets import MODULES, Target  # noqa: E402

MOST_MEMORY = 1_500
OPTIONS = [f"-rss_limit_mb={MOST_MEMORY}", "-timeout=60", "-max_len=4000", "-detect_leaks=0", "-verbosity=0"]


def fuzz(name: str, arguments: list[str]) -> None:
    """Fuzzes until the time is up or something is found. Never returns."""
    with atheris.instrument_imports(include=["answerable"]):
        target: Target = import_module(MODULES[name]).TARGETS[name]
        from soundness import Watch, one_input
    corpus = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
    for number, seed in enumerate(target.seeds):
        # The first byte says that the rest is the file itself, and again for those that are drawn.
        (corpus / str(number)).write_bytes(seed)
        (corpus / f"file {number}").write_bytes(b"\0" + seed)
    is_rerun = any(not argument.startswith("-") for argument in arguments)
    watch = Watch(target.may_start_programs)
    atheris.Setup(
        [sys.argv[0], *OPTIONS, *arguments, *([] if is_rerun else [str(corpus)])],
        partial(one_input, target.attempt, watch),
    )
    atheris.Fuzz()


if __name__ == "__main__":
    # A runaway allocation ends this process only.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    fuzz(sys.argv[1], sys.argv[2:])
