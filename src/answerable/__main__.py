"""The command `answerable`, also `python -m answerable`."""

import atexit
import gc
import sys


def main() -> None:
    """Run the command. Ctrl-C while modules are still being imported ends the command without a traceback."""
    if sys.argv[1:] == ["--version"]:
        # Without the modules of the command line, which take longer than everything else here.
        from answerable import __version__

        print(f"answerable {__version__}")
        return
    # What a command loads stays; looking through it for garbage takes a tenth of the time. The number is a guess.
    gc.set_threshold(100_000)
    # Python would look through it once more when the command ends, and take it apart: a fifth of the time of `list`.
    atexit.register(gc.freeze)
    try:
        from answerable.interfaces.cli.main import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
