"""The commands, one file each, named after the command.

Two small pairs share one: `export_and_import.py` and `list_and_sources.py`. `watch.py` is the loop of `sync --watch`.
"""
