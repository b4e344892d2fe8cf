"""Documents of word processors (Word, OpenDocument, RTF), e-books, and what office files have in common."""
