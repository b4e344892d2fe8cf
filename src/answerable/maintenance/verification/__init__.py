"""Compares a library with its sources and with itself, and repairs the differences."""
