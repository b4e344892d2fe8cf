"""Adapters of the `ChatModel` protocol."""
