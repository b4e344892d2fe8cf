"""Build the reader of files, folders and sites from the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.protocols import Reader, Visit
from answerable.protocols.sources import FileContents, ReadsAhead, SourceFile, SourceItem
from answerable.settings import Settings
from answerable.sources.html.web_address import is_site

if TYPE_CHECKING:
    from answerable.sources.file_reader import FileReader


def build_reader(settings: Settings, root: Path | None = None, ahead: ReadsAhead | None = None) -> Reader:
    """Build the reader. Sources of files under `root` are paths relative to it.

    The modules of file formats are imported when a document is read, so a question never loads them.
    """
    return _LazyReader(settings, root, ahead)


class _LazyReader:
    def __init__(self, settings: Settings, root: Path | None, ahead: ReadsAhead | None) -> None:
        self._settings = settings
        self._root = root
        self._ahead = ahead
        self._readers: dict[str, FileReader] = {}

    def listing(self, source: str) -> Sequence[SourceItem]:
        return self._files(self._settings.ocr_languages).listing(source)

    def read(self, file: SourceFile) -> FileContents:
        return self._files(file.languages).read(file)

    def options(self, source: str) -> Mapping[str, str]:
        settings = self._settings
        options = {"ocr": settings.ocr_languages}
        if is_site(source):
            options |= {
                "address": source,
                "locales": settings.site_locales,
                "versions": settings.site_versions,
                "everything": "yes" * settings.site_everything,
                "max_pages": str(settings.max_pages),
                "public_url": settings.site_public_url,
            }
        return {name: value for name, value in options.items() if value}

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        options = self.options(source) if options is None else options
        files = self._files(options.get("ocr", self._settings.ocr_languages))
        if not is_site(source):
            return files.visit(source, checksum=checksum)
        from answerable.sources.site.choice import SiteOptions
        from answerable.sources.site.connection import AddressGuard
        from answerable.sources.site.fetch import Fetcher, FetchPolicy
        from answerable.sources.site.visit import SiteVisit

        guard = AddressGuard(_listed(self._settings.allow_hosts))
        wanted = SiteOptions(
            _listed(options.get("locales", "")),
            _listed(options.get("versions", "")),
            bool(options.get("everything")),
            int(options.get("max_pages", self._settings.max_pages)),
            options.get("public_url", ""),
        )
        policy = FetchPolicy(delay=1 / self._settings.requests_per_second)
        return SiteVisit(options.get("address", source), Fetcher(guard, policy), files, wanted)

    def _files(self, languages: str) -> FileReader:
        if languages not in self._readers:
            from answerable.sources.context import ReadContext, ReadLimits
            from answerable.sources.file_reader import FileReader
            from answerable.sources.ocr.pictures import find_ocr
            from answerable.sources.recordings.hear import find_speech

            settings = self._settings
            limits = ReadLimits(
                settings.max_file_size,
                settings.max_pdf_seconds,
                settings.max_pdf_memory,
                max_audio_seconds=settings.max_audio_seconds,
            )
            speech = find_speech(settings.audio_model, _listed(settings.audio_languages), settings.threads)
            context = ReadContext(limits, settings.pdf_password or None, find_ocr(languages), speech)
            self._readers[languages] = FileReader(context, self._root, self._ahead)
        return self._readers[languages]

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()


def _listed(text: str) -> tuple[str, ...]:
    """Split a comma-separated setting."""
    return tuple(filter(None, (part.strip() for part in text.split(","))))
