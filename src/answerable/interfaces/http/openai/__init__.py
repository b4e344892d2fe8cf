"""The routes that speak OpenAI's protocol."""
