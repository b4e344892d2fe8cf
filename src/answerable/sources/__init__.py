"""Where documents come from: files, folders, archives, chats, PDF, Markdown, HTML."""

from answerable.sources.archives import iter_members, read_zip
from answerable.sources.files import read_bytes, read_file, source_of
from answerable.sources.folders import walk
from answerable.sources.formats import SUFFIXES, Format
from answerable.sources.html import read_html
from answerable.sources.limits import ReadLimits, Skipped
from answerable.sources.markdown import read_markdown
from answerable.sources.pdf import PdfWorker, read_pdf
from answerable.sources.text import decode, read_text
from answerable.sources.whatsapp import is_chat, read_chat

__all__ = [
    "SUFFIXES",
    "Format",
    "PdfWorker",
    "ReadLimits",
    "Skipped",
    "decode",
    "is_chat",
    "iter_members",
    "read_bytes",
    "read_chat",
    "read_file",
    "read_html",
    "read_markdown",
    "read_pdf",
    "read_text",
    "read_zip",
    "source_of",
    "walk",
]
