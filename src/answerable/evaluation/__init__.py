"""Measure on question sets how well the engine finds, answers and refuses, and fit refusal gates."""
