"""The SQLite file of an embedded library: its only copy of documents, chunks and vectors."""
