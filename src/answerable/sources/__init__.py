"""Where documents come from: files, folders, archives, chats, PDF, Markdown, web, Word, e-books, code, records."""

from typing import TYPE_CHECKING

from answerable.exports import exported_from

__all__ = [
    "SUFFIXES",
    "AddressGuard",
    "FetchPolicy",
    "Fetched",
    "Fetcher",
    "FileReader",
    "Format",
    "Message",
    "PageKind",
    "ReadContext",
    "ReadLimits",
    "ReadingProcess",
    "Robots",
    "SitePage",
    "SitePages",
    "Skipped",
    "Validators",
    "ask_ahead",
    "decode",
    "find_pages",
    "is_chat",
    "kind_of_page",
    "parse_chat",
    "read_bytes",
    "read_chat",
    "read_code",
    "read_docx",
    "read_epub",
    "read_file",
    "read_html",
    "read_markdown",
    "read_pdf",
    "read_records",
    "read_text",
    "read_zip",
    "source_of",
    "walk",
]

if TYPE_CHECKING:
    from answerable.disk.names import source_of
    from answerable.sources.archives import read_zip
    from answerable.sources.code.read import read_code
    from answerable.sources.context import ReadContext
    from answerable.sources.files import read_bytes, read_file
    from answerable.sources.folders import walk
    from answerable.sources.formats import SUFFIXES, Format
    from answerable.sources.html.docusaurus import PageKind, kind_of_page
    from answerable.sources.html.read import read_html
    from answerable.sources.limits import ReadLimits, Skipped
    from answerable.sources.markdown import read_markdown
    from answerable.sources.office.docx import read_docx
    from answerable.sources.office.epub import read_epub
    from answerable.sources.pdf.read import read_pdf
    from answerable.sources.process.reading_process import ReadingProcess
    from answerable.sources.reader import FileReader
    from answerable.sources.site.addresses import AddressGuard
    from answerable.sources.site.crawl import ask_ahead
    from answerable.sources.site.fetch import Fetched, Fetcher, Validators
    from answerable.sources.site.pace import FetchPolicy
    from answerable.sources.site.pages import SitePage, SitePages, find_pages
    from answerable.sources.site.robots import Robots
    from answerable.sources.tables.read import read_records
    from answerable.sources.text import decode, read_text
    from answerable.sources.whatsapp.read import Message, is_chat, parse_chat, read_chat
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "SUFFIXES": "formats",
            "AddressGuard": "site.addresses",
            "FetchPolicy": "site.pace",
            "Fetched": "site.fetch",
            "Fetcher": "site.fetch",
            "FileReader": "reader",
            "Format": "formats",
            "Message": "whatsapp.read",
            "PageKind": "html.docusaurus",
            "ReadContext": "context",
            "ReadLimits": "limits",
            "ReadingProcess": "process.reading_process",
            "Robots": "site.robots",
            "SitePage": "site.pages",
            "SitePages": "site.pages",
            "Skipped": "limits",
            "Validators": "site.fetch",
            "ask_ahead": "site.crawl",
            "decode": "text",
            "find_pages": "site.pages",
            "is_chat": "whatsapp.read",
            "kind_of_page": "html.docusaurus",
            "parse_chat": "whatsapp.read",
            "read_bytes": "files",
            "read_chat": "whatsapp.read",
            "read_code": "code.read",
            "read_docx": "office.docx",
            "read_epub": "office.epub",
            "read_file": "files",
            "read_html": "html.read",
            "read_markdown": "markdown",
            "read_pdf": "pdf.read",
            "read_records": "tables.read",
            "read_text": "text",
            "read_zip": "archives",
            "source_of": "files",
            "walk": "folders",
        },
    )
