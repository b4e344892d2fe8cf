"""Libraries that live in this process; exact search, which the embedded store uses too."""
