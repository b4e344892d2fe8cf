"""Build the parts of a library from its settings. Only this package imports concrete adapters."""
