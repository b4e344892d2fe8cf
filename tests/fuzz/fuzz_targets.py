"""What can be fuzzed, and where it is."""

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
    "chat": "fuzz_texts",
    "markdown": "fuzz_texts",
    "html": "fuzz_texts",
    "records": "fuzz_texts",
    "docx": "fuzz_packages",
    "epub": "fuzz_packages",
    **dict.fromkeys(("xlsx", "pptx", "ods", "odp", "odt", "rtf"), "fuzz_office"),
    "zip": "fuzz_packages",
    "pdf": "fuzz_pdfs",
    "sitemap": "fuzz_sites",
    "robots": "fuzz_sites",
    "export": "fuzz_exports",
    "filters": "fuzz_questions",
    "citations": "fuzz_questions",
    "model_servers": "fuzz_model_servers",
}
