"""What markitdown makes of one file, in its own environment. `python -m format_files.theirs FILE`."""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Prints the Markdown."""
    from markitdown import MarkItDown

    print(json.dumps({"text": MarkItDown().convert(sys.argv[1]).markdown}))


if __name__ == "__main__":
    main()
