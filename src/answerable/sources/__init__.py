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
    "iter_members",
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
    from answerable.sources.archives import iter_members, read_zip
    from answerable.sources.code import read_code
    from answerable.sources.docusaurus import PageKind, kind_of_page
    from answerable.sources.docx import read_docx
    from answerable.sources.epub import read_epub
    from answerable.sources.files import read_bytes, read_file, source_of
    from answerable.sources.folders import walk
    from answerable.sources.formats import SUFFIXES, Format
    from answerable.sources.html import read_html
    from answerable.sources.limits import ReadLimits, Skipped
    from answerable.sources.markdown import read_markdown
    from answerable.sources.pdf import read_pdf
    from answerable.sources.process import ReadingProcess
    from answerable.sources.reader import FileReader
    from answerable.sources.records import read_records
    from answerable.sources.site_addresses import AddressGuard
    from answerable.sources.site_crawl import ask_ahead
    from answerable.sources.site_fetch import Fetched, Fetcher, Validators
    from answerable.sources.site_pace import FetchPolicy
    from answerable.sources.site_pages import SitePage, SitePages, find_pages
    from answerable.sources.site_robots import Robots
    from answerable.sources.text import decode, read_text
    from answerable.sources.whatsapp import Message, is_chat, parse_chat, read_chat
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "SUFFIXES": "formats",
            "AddressGuard": "site_addresses",
            "FetchPolicy": "site_pace",
            "Fetched": "site_fetch",
            "Fetcher": "site_fetch",
            "FileReader": "reader",
            "Format": "formats",
            "Message": "whatsapp",
            "PageKind": "docusaurus",
            "ReadLimits": "limits",
            "ReadingProcess": "process",
            "Robots": "site_robots",
            "SitePage": "site_pages",
            "SitePages": "site_pages",
            "Skipped": "limits",
            "Validators": "site_fetch",
            "ask_ahead": "site_crawl",
            "decode": "text",
            "find_pages": "site_pages",
            "is_chat": "whatsapp",
            "iter_members": "archives",
            "kind_of_page": "docusaurus",
            "parse_chat": "whatsapp",
            "read_bytes": "files",
            "read_chat": "whatsapp",
            "read_code": "code",
            "read_docx": "docx",
            "read_epub": "epub",
            "read_file": "files",
            "read_html": "html",
            "read_markdown": "markdown",
            "read_pdf": "pdf",
            "read_records": "records",
            "read_text": "text",
            "read_zip": "archives",
            "source_of": "files",
            "walk": "folders",
        },
    )
