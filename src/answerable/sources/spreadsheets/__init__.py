"""Spreadsheets: a part for each row, named as the sheet names it."""
