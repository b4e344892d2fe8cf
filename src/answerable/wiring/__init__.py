"""Settings → parts: the only package that names adapters."""
