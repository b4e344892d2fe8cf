"""The backend of a textbook: a chat that answers from the book, and what brings the book into Qdrant."""
