"""`python -m answerable` is the command `answerable`."""

from answerable.interfaces.cli.main import run

if __name__ == "__main__":
    run()
