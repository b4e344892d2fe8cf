"""Shared by all adapters of remote providers: retries, limits, translation of errors."""
