"""Sanitising of prompts and of model output."""
