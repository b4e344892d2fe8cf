"""Compare sentences with source words: find what a model hands over, and mark what isn't in it."""
