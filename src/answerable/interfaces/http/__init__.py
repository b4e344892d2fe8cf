"""The HTTP service: an API, a web page and an endpoint of OpenAI's protocol over one or several libraries."""
