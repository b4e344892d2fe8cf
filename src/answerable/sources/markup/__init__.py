"""reStructuredText, Org, AsciiDoc and LaTeX: the unchanged file, with sections of what people read."""
