"""Models that write answers: adapters of the `ChatModel` protocol."""
