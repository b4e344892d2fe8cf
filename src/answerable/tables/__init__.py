"""Tables of documents with typed columns: records, tables in text, chats, calendars, contacts, front matter."""
