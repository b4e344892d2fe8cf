"""What a library or a document holds: extracts, outlines, tables, and questions that are really answered."""
