"""A whole library as one file, to keep, to move and to read with other tools; docs/backup.md describes its format."""
