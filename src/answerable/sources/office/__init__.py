"""Word documents and e-books."""
