"""Spreadsheets: a part for each row, cited by the sheet's own cell names."""
