"""Questions to an exported WhatsApp chat: parsing, windows of messages, embeddings, search."""
