"""What the routes call: retrieval, hints, answers, conversations."""
