"""Keys of a server: who may call, and for what."""
