"""What goes into a prompt and what comes out of a model, made harmless."""
