"""Recordings: what is said in them, with the second of every sentence."""
