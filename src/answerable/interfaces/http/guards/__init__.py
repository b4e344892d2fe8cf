"""Middlewares that check every request before it reaches a route."""
