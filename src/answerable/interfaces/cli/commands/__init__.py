"""The commands, each a function with the command's name; related commands share a file.

`watch.py` is the loop of `sync --watch`.
"""
