"""The keys of a server: who may send requests, and which ones."""
