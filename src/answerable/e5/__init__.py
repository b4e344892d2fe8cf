"""multilingual-e5-small: its weights file, its tokenizer and its encoder, which the embedder and the reader share."""
