"""Libraries in the memory of this process, and exact search in memory, which the embedded store uses too."""
