"""Source code."""
