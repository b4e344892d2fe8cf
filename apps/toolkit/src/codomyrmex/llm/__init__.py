"""What the toolkit has for language models."""
