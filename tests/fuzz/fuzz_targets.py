"""List the fuzz targets and their modules: all formats in `fuzz_formats`, some also with their own grammar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from draw import Draw


@dataclass(frozen=True)
class Target:
    """Draws an input and gives it to a parser. `seeds` are files to begin with."""

    attempt: Callable[[Draw], None]
    seeds: tuple[bytes, ...] = ()
    may_start_programs: bool = False


MODULES = {
    "formats": "fuzz_formats",
    "notation": "fuzz_texts",
    "chat": "fuzz_texts",
    "chats": "fuzz_chats",
    "markdown": "fuzz_texts",
    "html": "fuzz_texts",
    "records": "fuzz_texts",
    "notebook": "fuzz_writing",
    "markup": "fuzz_writing",
    "subtitles": "fuzz_writing",
    "outlines": "fuzz_writing",
    "canvas": "fuzz_writing",
    "notes": "fuzz_writing",
    "docx": "fuzz_packages",
    "epub": "fuzz_packages",
    **dict.fromkeys(("xlsx", "xls", "pptx", "ods", "odp", "odt", "rtf"), "fuzz_office"),
    "zip": "fuzz_packages",
    "tar": "fuzz_packages",
    "mail": "fuzz_mail",
    "outlook": "fuzz_mail",
    "entries": "fuzz_mail",
    "pdf": "fuzz_pdfs",
    "picture": "fuzz_pictures",
    "recording": "fuzz_recordings",
    "plugin": "fuzz_plugins",
    "sitemap": "fuzz_sites",
    "robots": "fuzz_sites",
    "export": "fuzz_exports",
    "filters": "fuzz_questions",
    "citations": "fuzz_questions",
    "model_servers": "fuzz_model_servers",
}
