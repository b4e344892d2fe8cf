"""Presentations: a part for each slide."""
