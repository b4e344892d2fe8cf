"""The commands, one file each, named after the command.

Two files have two short commands each: `export_and_import.py` and `list_and_sources.py`. `watch.py` is the loop of
`sync --watch`.
"""
