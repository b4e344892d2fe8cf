"""Private files, SQLite's write-ahead log, free space."""
