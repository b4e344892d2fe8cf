"""The command `answerable`, also `python -m answerable`."""

import sys


def main() -> None:
    """Run the command. Ctrl-C while modules are still being imported ends the command without a traceback."""
    try:
        from answerable.interfaces.cli.main import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
