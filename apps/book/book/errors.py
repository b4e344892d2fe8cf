"""What can go wrong, by the names that the specification gives; all are errors of the engine."""

from __future__ import annotations

from answerable.errors import (
    LibraryError,
    ProviderError,
    SitemapNotFoundError,
    SiteUnreachable,
    SourceError,
    SourceNotFound,
)

__all__ = [
    "CohereAPIError",
    "ContentExtractionError",
    "NetworkError",
    "PageNotFoundError",
    "QdrantConnectionError",
    "SitemapNotFoundError",
    "SitemapUnreachable",
]


class NetworkError(SiteUnreachable):
    """The site gives no sound answer, or its address may not be asked."""


class SitemapUnreachable(SitemapNotFoundError, NetworkError):
    """The site gives no sound answer when it is asked for its sitemap: there may be one."""


class PageNotFoundError(SourceNotFound):
    """There is no page at that address."""


class ContentExtractionError(SourceError):
    """The page holds no text that can be read."""


class CohereAPIError(ProviderError):
    """Cohere couldn't embed, after all tries."""


class QdrantConnectionError(LibraryError, ConnectionError):
    """Qdrant can't be asked, or refuses."""
