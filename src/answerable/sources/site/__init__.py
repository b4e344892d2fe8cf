"""Web sites, read by their sitemaps or by following links."""
