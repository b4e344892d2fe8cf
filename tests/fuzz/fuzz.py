"""Fuzzes a parser: `python fuzz.py TARGET [FILE or option of libFuzzer …]`; with files it runs just these.

By atheris, which looks at what code an input reaches: it finds what lies behind a mark or a length that random inputs
hardly ever get right, and it reduces what it finds. Where it has no wheel, and with `--random`, by random inputs; these
also take several parsers, one after the other: `python fuzz.py mail,pdf --random -runs=100`.
"""

from __future__ import annotations

import platform
import resource
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.dont_write_bytecode = True

import random_inputs  # noqa: E402
from fuzz_targets import MODULES, Target  # noqa: E402

HAS_ATHERIS = sys.platform == "linux" and platform.machine() == "x86_64" and sys.version_info >= (3, 11)
RANDOM = "--random"
MOST_MEMORY = 1_500
OPTIONS = [f"-rss_limit_mb={MOST_MEMORY}", "-timeout=60", "-max_len=4000", "-detect_leaks=0", "-verbosity=0"]


def fuzz(names: list[str], arguments: list[str]) -> None:
    """Fuzzes until the time is up or something is found; by atheris it never returns."""
    by_atheris = HAS_ATHERIS and RANDOM not in arguments
    arguments = [argument for argument in arguments if argument != RANDOM]
    if by_atheris:
        import atheris
    with atheris.instrument_imports(include=["answerable"]) if by_atheris else nullcontext():
        targets: dict[str, Target] = {name: import_module(MODULES[name]).TARGETS[name] for name in names}
        from soundness import Watch, one_input
    watch = Watch()
    for name, target in targets.items():
        print(f"Fuzzing {name}", file=sys.stderr, flush=True)
        watch.may_start_programs = target.may_start_programs
        attempt = partial(one_input, target.attempt, watch)
        # The first byte says that the rest is the file itself, and again for those that are drawn.
        corpus = [*target.seeds, *(b"\0" + seed for seed in target.seeds)]
        if by_atheris:
            _by_atheris(name, attempt, corpus, arguments)
        random_inputs.fuzz(attempt, corpus, arguments, MOST_MEMORY)


def _by_atheris(name: str, attempt: Callable[[bytes], None], corpus: list[bytes], arguments: list[str]) -> NoReturn:
    import atheris

    folder = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
    for number, data in enumerate(corpus):
        (folder / str(number)).write_bytes(data)
    is_rerun = any(not argument.startswith("-") for argument in arguments)
    atheris.Setup([sys.argv[0], *OPTIONS, *arguments, *([] if is_rerun else [str(folder)])], attempt)
    atheris.Fuzz()
    raise AssertionError("atheris ends the process")


if __name__ == "__main__":
    # A runaway allocation ends this process only.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    fuzz(sys.argv[1].split(","), sys.argv[2:])
