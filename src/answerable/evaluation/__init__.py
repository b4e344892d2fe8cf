"""Measure how well the engine finds, answers and refuses on question sets, and fit refusal gates."""
