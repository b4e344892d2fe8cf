"""CSV, TSV, JSON and JSON lines: a part for each record."""
