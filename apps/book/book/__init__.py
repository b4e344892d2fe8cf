"""What `main.py` and `retrieval.py` share: the book's pages, chunks, vectors, and the collection in Qdrant."""
