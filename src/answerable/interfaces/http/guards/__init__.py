"""Checks that every request passes before it reaches a route."""
