"""The routes: each one parses a request, calls the engine, and returns plain values."""
