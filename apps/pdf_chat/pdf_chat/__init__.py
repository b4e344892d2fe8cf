"""What `ingest`, `search` and `chat` share: settings, errors, the vector store, the check of answers."""
