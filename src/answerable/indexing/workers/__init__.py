"""Reading, splitting and embedding in other processes or on a Ray cluster."""
