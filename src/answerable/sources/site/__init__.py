"""Web sites: by sitemap, or by following links."""
