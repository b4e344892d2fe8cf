"""The routes: each parses, calls, and gives back plain values."""
