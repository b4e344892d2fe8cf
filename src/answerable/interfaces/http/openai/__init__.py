"""The endpoint of OpenAI's protocol."""
