"""Where documents come from: files, folders, archives, chats, PDF, Markdown, HTML, Word, e-books, code, records."""

from answerable.sources.archives import iter_members, read_zip
from answerable.sources.code import read_code
from answerable.sources.docx import read_docx
from answerable.sources.epub import read_epub
from answerable.sources.files import read_bytes, read_file, source_of
from answerable.sources.folders import walk
from answerable.sources.formats import SUFFIXES, Format
from answerable.sources.html import read_html
from answerable.sources.limits import ReadLimits, Skipped
from answerable.sources.markdown import read_markdown
from answerable.sources.pdf import PdfWorker, read_pdf
from answerable.sources.records import read_records
from answerable.sources.text import decode, read_text
from answerable.sources.whatsapp import Message, is_chat, parse_chat, read_chat

__all__ = [
    "SUFFIXES",
    "Format",
    "Message",
    "PdfWorker",
    "ReadLimits",
    "Skipped",
    "decode",
    "is_chat",
    "iter_members",
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
