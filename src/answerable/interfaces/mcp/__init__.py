"""Serve a library to assistants by the Model Context Protocol (https://modelcontextprotocol.io)."""

from answerable.errors import MissingPackage

try:
    import mcp  # noqa: F401
except ImportError as error:
    raise MissingPackage("The MCP server needs the package mcp", "mcp") from error
