"""Libraries on a Qdrant server."""
