"""The search index of an embedded library: Qdrant Edge in a process of its own, derived from the database."""
