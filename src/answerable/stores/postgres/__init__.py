"""Libraries on a PostgreSQL server with pgvector."""
