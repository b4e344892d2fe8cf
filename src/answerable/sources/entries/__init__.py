"""Calendars and contacts."""
