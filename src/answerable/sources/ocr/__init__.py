"""Optical character recognition: pictures of text → lines of text with their boxes."""
