"""Fit the gates that the package ships, and plot measurements. Not included in the wheel."""
