"""What fills the collection."""
