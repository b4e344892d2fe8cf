"""Zip and tar archives and compressed files → Documents. Nothing is unpacked to disk."""
