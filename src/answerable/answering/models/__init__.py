"""Adapters that implement the `ChatModel` protocol."""
