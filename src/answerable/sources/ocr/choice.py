"""Choose what recognises text: RapidOCR if it is installed, otherwise tesseract."""

from __future__ import annotations

import re
import shutil
import subprocess

from answerable.errors import SettingsError
from answerable.installation import install_command
from answerable.sources.context import Ocr
from answerable.sources.ocr.lines import Recogniser
from answerable.sources.ocr.rapid import models_folder, rapid_recogniser
from answerable.sources.ocr.tesseract import TesseractRecogniser

_LANGUAGES = re.compile(r"[A-Za-z_]+(\+[A-Za-z_]+)*")


def install_ocr() -> str:
    """Return the command that installs RapidOCR, in backticks."""
    return f"`{install_command('ocr')}`"


def find_ocr(languages: str = "") -> Ocr | None:
    """Return the OCR of this machine, or None without any.

    With languages it is tesseract, whose codes they are (`eng+spa`); otherwise RapidOCR, which reads all languages
    written in Latin letters, Chinese and Japanese; otherwise tesseract in English, Spanish and Portuguese, if these are
    installed. Raises SettingsError if tesseract or a requested language isn't installed.
    """
    if not languages and models_folder() is not None:
        return Ocr()
    command = shutil.which("tesseract")
    if command is None:
        if languages:
            raise SettingsError(
                f"tesseract is not installed, but ocr is {languages}: install it, or leave ocr empty, "
                f"with {install_ocr()}"
            )
        return None
    listed = subprocess.run([command, "--list-langs"], capture_output=True, text=True, timeout=60, check=False)
    installed = listed.stdout.split("\n")[1:]
    if not languages:
        usual = [language for language in ("eng", "spa", "por") if language in installed]
        return Ocr(command, "+".join(usual)) if usual else None
    missing = [language for language in languages.split("+") if language not in installed]
    if missing or not _LANGUAGES.fullmatch(languages):
        raise SettingsError(
            f"tesseract can't read {' and '.join(missing) or languages!r}: install the package "
            f"tesseract-ocr-<language>, or choose from {', '.join(filter(None, installed))} (several as eng+spa)"
        )
    return Ocr(command, languages)


def recogniser(ocr: Ocr) -> Recogniser:
    """Return what recognises pages."""
    return TesseractRecogniser(ocr) if ocr.command else rapid_recogniser()
