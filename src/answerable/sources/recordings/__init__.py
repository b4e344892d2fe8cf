"""Recordings: transcripts of what is said, with the second of every sentence."""
