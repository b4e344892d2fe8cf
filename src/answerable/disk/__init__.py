"""Files: private ones, SQLite's write-ahead log, free space on the disk."""
