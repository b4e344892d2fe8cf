"""The command `answerable`, also `python -m answerable`."""

import sys


def main() -> None:
    """Run the command. Ctrl-C while modules are still being imported ends the command without a traceback."""
    if sys.argv[1:] == ["--version"]:
        # Without the modules of the command line, which take longer than everything else here.
        from answerable import __version__

        print(f"answerable {__version__}")
        return
    try:
        from answerable.interfaces.cli.main import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
