"""Trains the reader: `python -m training DATA FOLDER` goes from the sets to the weights that `answerable` ships."""
