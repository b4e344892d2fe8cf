"""Documents of word processors (Word, OpenDocument, RTF), e-books, and the code that all office formats share."""
