"""The built-in formats: a new format needs an entry here, a file reader and a test."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from answerable.datatypes import DocumentType
from answerable.formats import marks
from answerable.formats.format import Cost, Format, Markdown, Names, Places, Split, later, of_text

LANGUAGES = json.loads(Path(__file__).with_name("languages.json").read_text("utf-8"))
"""The programming languages by name, with the properties that `sources.code` describes."""

PICTURE = Format(
    name="picture",
    suffixes=marks.PICTURES,
    read=later("answerable.sources.ocr.pictures:read_picture"),
    kind=DocumentType.PICTURE,
    split=Split.PAGES,
    markdown=Markdown.LINES,
    marks=marks.is_picture,
    marks_decide=Names.FREE,
    is_binary=True,
    cost=Cost.PICTURE,
)
PDF = Format(
    name="pdf",
    suffixes=(".pdf",),
    read=later("answerable.sources.pdf.read:read_pdf"),
    kind=DocumentType.PDF,
    places=Places.PAGES,
    split=Split.PAGES,
    media_types={"application/pdf": ".pdf"},
    marks=marks.is_pdf,
    marks_decide=Names.ANY,
    is_binary=True,
    cost=Cost.PDF,
)
RECORDING = Format(
    name="recording",
    suffixes=marks.RECORDINGS,
    read=later("answerable.sources.recordings.hear:read_recording"),
    kind=DocumentType.RECORDING,
    places=Places.SECONDS,
    marks=marks.is_recording,
    marks_decide=Names.ANY,
    needs_marks=True,
    is_binary=True,
    cost=Cost.SOUND,
)
DOCX = Format(
    name="docx",
    suffixes=(".docx", ".docm", ".dotx", ".dotm"),
    read=later("answerable.sources.office.docx:read_docx"),
    kind=DocumentType.DOCX,
    split=Split.HEADINGS,
    markdown=Markdown.LINES,
    media_types={"application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx"},
    marks=marks.is_office_file,
    is_binary=True,
    packed="word/document.xml",
    cost=Cost.PACKED,
)
ODT = replace(
    DOCX,
    name="odt",
    suffixes=(".odt", ".ott"),
    read=later("answerable.sources.office.odf:read_odt"),
    kind=DocumentType.ODT,
    media_types={"application/vnd.oasis.opendocument.text": ".odt"},
    marks=marks.is_zip,
    packed="application/vnd.oasis.opendocument.text",
)
EPUB = replace(
    ODT,
    name="epub",
    suffixes=(".epub",),
    read=later("answerable.sources.office.epub:read_epub"),
    kind=DocumentType.EPUB,
    media_types={"application/epub+zip": ".epub"},
    packed="application/epub+zip",
)
RTF = replace(
    DOCX,
    name="rtf",
    suffixes=(".rtf",),
    read=later("answerable.sources.office.rtf:read_rtf"),
    kind=DocumentType.RTF,
    media_types={"application/rtf": ".rtf", "text/rtf": ".rtf"},
    marks=marks.begins(rb"\{\\rtf"),
    marks_decide=Names.ANY,
    packed="",
    cost=Cost.SIZE,
)
XLSX = Format(
    name="xlsx",
    suffixes=(".xlsx", ".xlsm", ".xltx", ".xltm"),
    read=later("answerable.sources.spreadsheets.read:read_xlsx"),
    kind=DocumentType.SPREADSHEET,
    split=Split.SHEETS,
    media_types={"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx"},
    marks=marks.is_office_file,
    is_binary=True,
    packed="xl/workbook.xml",
    cost=Cost.PACKED,
)
XLS = replace(
    XLSX,
    name="xls",
    suffixes=(".xls", ".xlt"),
    read=later("answerable.sources.spreadsheets.old:read_xls"),
    media_types={"application/vnd.ms-excel": ".xls"},
    # Programs also give this suffix to web pages and to text with tabs.
    marks=marks.begins(re.escape(marks.OLE)),
    needs_marks=True,
    packed="",
    cost=Cost.SIZE,
)
ODS = replace(
    XLSX,
    name="ods",
    suffixes=(".ods", ".ots"),
    read=later("answerable.sources.spreadsheets.read:read_ods"),
    media_types={"application/vnd.oasis.opendocument.spreadsheet": ".ods"},
    marks=marks.is_zip,
    packed="application/vnd.oasis.opendocument.spreadsheet",
)
PPTX = replace(
    DOCX,
    name="pptx",
    suffixes=(".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
    read=later("answerable.sources.office.slides:read_pptx"),
    kind=DocumentType.SLIDES,
    media_types={"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx"},
    packed="ppt/presentation.xml",
)
ODP = replace(
    PPTX,
    name="odp",
    suffixes=(".odp", ".otp"),
    read=later("answerable.sources.office.slides:read_odp"),
    media_types={"application/vnd.oasis.opendocument.presentation": ".odp"},
    marks=marks.is_zip,
    packed="application/vnd.oasis.opendocument.presentation",
)
ZIP = Format(
    name="zip",
    suffixes=(".zip",),
    read_members=later("answerable.sources.archives.read:read_archive"),
    kind=None,
    marks=marks.is_plain_zip,
    marks_decide=Names.ANY,
    is_binary=True,
    cost=Cost.PACKED,
)
# Documents of Apple's Pages, Numbers and Keynote, of which the preview is read.
IWORK = replace(ZIP, name="iwork", suffixes=(".pages", ".numbers", ".key"), marks_decide=Names.OWN, needs_marks=True)
TAR = replace(ZIP, name="tar", suffixes=(".tar",), marks=marks.is_tar, cost=Cost.SIZE)
COMPRESSED = replace(
    TAR,
    name="compressed",
    suffixes=(".gz", ".tgz", ".bz2", ".tbz", ".tbz2", ".xz", ".txz"),
    # Many file formats are gzip, bzip2 or xz inside: a file is unpacked only if it has one of these suffixes.
    marks=marks.begins(rb"\x1f\x8b\x08|BZh[1-9]1AY&SY|\xfd7zXZ\x00"),
    marks_decide=Names.OWN,
)
MBOX = Format(
    name="mbox",
    suffixes=(".mbox", ".mbx"),
    read_members=later("answerable.sources.mail.read:read_mailbox"),
    kind=DocumentType.MAIL,
    marks=marks.begins(rb"From (?:-? ?|[^\n]*\d\d:\d\d[^\n]*)\r?\n(?:>?From [^\n]*\n)?[!-9;-~]{1,70}:"),
    marks_decide=Names.FREE,
    is_binary=True,
)
MAIL = replace(
    MBOX,
    name="mail",
    suffixes=(".eml", ".emlx"),
    read_members=later("answerable.sources.mail.read:read_mail"),
    marks=marks.is_mail,
)
OUTLOOK = replace(
    MBOX,
    name="outlook",
    suffixes=(".msg",),
    read_members=later("answerable.sources.mail.outlook:read_outlook"),
    # Robots, too, have messages in files named `.msg`, which are text files.
    marks=marks.begins(re.escape(marks.OLE)),
    marks_decide=Names.OWN,
    needs_marks=True,
)
OPML = Format(
    name="opml",
    suffixes=(".opml",),
    read=later("answerable.sources.markup.outlines:read_opml"),
    kind=DocumentType.OUTLINE,
    split=Split.ROWS,
    markdown=Markdown.LINES,
    media_types={"text/x-opml": ".opml"},
)
CANVAS = replace(
    OPML,
    name="canvas",
    suffixes=(".canvas",),
    read=of_text("answerable.sources.markup.outlines:read_canvas"),
    media_types={},
)
BOOKMARKS = replace(
    OPML,
    name="bookmarks",
    suffixes=marks.PAGES,
    read=of_text("answerable.sources.markup.outlines:read_bookmarks"),
    media_types={},
    # Browsers export their bookmarks as pages that begin like this.
    marks=marks.begins(rb"(?i:(?:\xef\xbb\xbf)?\s*<!doctype\s+netscape-bookmark-file-1)"),
    marks_decide=Names.FREE,
    needs_marks=True,
)
CHAT_PAGE = Format(
    name="chat page",
    suffixes=marks.PAGES,
    read=later("answerable.sources.chats.read:read_chat_page"),
    kind=DocumentType.CHAT,
    places=Places.MESSAGES,
    split=Split.MESSAGES,
    marks=marks.is_chat_page,
    marks_decide=Names.FREE,
    needs_marks=True,
)
HTML = Format(
    name="html",
    suffixes=marks.PAGES,
    read=later("answerable.sources.html.read:read_saved"),
    kind=DocumentType.HTML,
    places=Places.WORDS,
    split=Split.HEADINGS,
    markdown=Markdown.LINES,
    media_types={"text/html": ".html", "application/xhtml+xml": ".html"},
    marks=marks.is_page,
    marks_decide=Names.FREE,
)
SAVED_PAGE = replace(
    HTML,
    name="saved page",
    suffixes=(".mhtml", ".mht"),
    read=later("answerable.sources.mail.read:read_mhtml"),
    media_types={},
    marks=None,
    # Its parts may be in several encodings.
    is_binary=True,
)
RECORDS = Format(
    name="records",
    suffixes=(".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson"),
    read=later("answerable.sources.notes:read_exported"),
    kind=DocumentType.RECORDS,
    places=Places.ROWS,
    split=Split.ROWS,
    media_types={"application/json": ".json", "text/csv": ".csv"},
    marks=marks.begins(rf'{{"{marks.BUNDLE}":'.encode()),
    marks_decide=Names.ANY,
)
MARKDOWN = Format(
    name="markdown",
    suffixes=(".md", ".markdown", ".mdx"),
    read=of_text("answerable.sources.chats.read:read_markdown_or_chat"),
    kind=DocumentType.MARKDOWN,
    places=Places.LINES,
    split=Split.HEADINGS,
    markdown=Markdown.ALL,
    media_types={"text/markdown": ".md"},
)
# Notes of Google Keep and Simplenote are files of records: `read_exported` decides by the content.
NOTE = replace(
    MARKDOWN,
    name="exported note",
    suffixes=(".enex",),
    read=None,
    read_members=later("answerable.sources.notes:read_evernote"),
    places=Places.PARTS,
    media_types={},
)
TEXT = Format(
    name="text",
    suffixes=(".txt", ".text", ".log"),
    read=of_text("answerable.sources.chats.read:read_plain"),
    places=Places.LINES,
)
# No first bytes distinguish chats from other text: `read_plain` decides by the whole content.
WHATSAPP = replace(TEXT, name="whatsapp", suffixes=(), kind=DocumentType.CHAT, split=Split.MESSAGES)
NOTEBOOK = Format(
    name="notebook",
    suffixes=(".ipynb",),
    read=of_text("answerable.sources.notebook:read_notebook"),
    kind=DocumentType.NOTEBOOK,
    split=Split.PAGES,
    markdown=Markdown.ALL,
    media_types={"application/x-ipynb+json": ".ipynb"},
)
RST = Format(
    name="rst",
    suffixes=(".rst",),
    read=of_text("answerable.sources.markup.light:read_rst"),
    kind=DocumentType.RST,
    places=Places.LINES,
    split=Split.MARKUP,
    media_types={"text/x-rst": ".rst"},
)
ORG = replace(
    RST,
    name="org",
    suffixes=(".org",),
    read=of_text("answerable.sources.markup.light:read_org"),
    kind=DocumentType.ORG,
    media_types={},
)
ASCIIDOC = replace(
    ORG,
    name="asciidoc",
    suffixes=(".adoc", ".asciidoc"),
    read=of_text("answerable.sources.markup.light:read_asciidoc"),
    kind=DocumentType.ASCIIDOC,
)
LATEX = replace(
    RST,
    name="latex",
    suffixes=(".tex", ".latex", ".ltx"),
    read=of_text("answerable.sources.markup.latex:read_latex"),
    kind=DocumentType.LATEX,
    media_types={"application/x-tex": ".tex"},
)
SUBTITLES = Format(
    name="subtitles",
    suffixes=(".srt", ".vtt"),
    read=of_text("answerable.sources.recordings.subtitles:read_subtitles"),
    kind=DocumentType.SUBTITLES,
    markdown=Markdown.LINES,
    media_types={"text/vtt": ".vtt", "application/x-subrip": ".srt"},
)
CALENDAR = Format(
    name="calendar",
    suffixes=(".ics", ".ical", ".ifb"),
    read=of_text("answerable.sources.entries:read_calendar"),
    kind=DocumentType.CALENDAR,
    split=Split.ROWS,
    markdown=Markdown.LINES,
    media_types={"text/calendar": ".ics"},
)
CONTACTS = replace(
    CALENDAR,
    name="contacts",
    suffixes=(".vcf", ".vcard"),
    read=of_text("answerable.sources.entries:read_contacts"),
    kind=DocumentType.CONTACTS,
    media_types={"text/vcard": ".vcf"},
)
CODE = Format(
    name="code",
    suffixes=tuple(sorted(suffix for language in LANGUAGES.values() for suffix in language["suffixes"])),
    read=of_text("answerable.sources.code:read_code"),
    kind=DocumentType.CODE,
    places=Places.LINES,
    split=Split.SYMBOLS,
)
FORMATS = (
    *(PICTURE, PDF, RECORDING, DOCX, ODT, EPUB, RTF, XLSX, XLS, ODS, PPTX, ODP, IWORK, ZIP, TAR, COMPRESSED, MBOX),
    *(MAIL, OUTLOOK, OPML, CANVAS, BOOKMARKS, CHAT_PAGE, HTML, SAVED_PAGE, RECORDS, MARKDOWN, NOTE, TEXT, WHATSAPP),
    *(NOTEBOOK, RST, ORG, ASCIIDOC, LATEX, SUBTITLES, CALENDAR, CONTACTS, CODE),
)
"""All built-in formats, in the order in which their marks are tried: the first whose marks match gets the file."""
