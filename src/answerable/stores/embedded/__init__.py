"""The default store: a folder on this machine, with an SQLite file and a search index."""
