"""multilingual-e5-small: its file, its tokens and its encoder, which the embedder and the reader share."""
