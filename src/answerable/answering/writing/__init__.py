"""A model writes an answer: the conversation with it, its tools, its evidence and the marks of its sentences."""
