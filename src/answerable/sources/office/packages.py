"""Office files and e-books: zip packages of XML, read within the limits of archives.

For Word, Excel and PowerPoint also the relations between the parts of a package, its properties and encryption.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from answerable.errors import DamagedSource, EncryptedSource, SourceError, UnsupportedSource
from answerable.formats.marks import OLE
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.archives.archives import ZipArchive
from answerable.sources.archives.members import Budget
from answerable.sources.context import ReadContext
from answerable.sources.formats import old_format
from answerable.sources.xml import local_name, parse_xml, refuse_entities
from answerable.text.notation import STRUCK, marked, written

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]


class Package:
    """An open package whose members are all checked; as a context it turns errors that XML causes into DamagedSource,
    and records what its reader leaves out.

    `what` is the format in words; `advice` tells the user what to do about a damaged or hostile package.
    """

    def __init__(self, data: bytes, source: str, context: ReadContext | None, advice: str, what: str) -> None:
        self.source = source
        self.advice = advice
        self.limit = limit = (context or ReadContext()).limits.max_file_size
        self._context = context
        self._what = what
        self._zip = ZipArchive(data, source, advice)
        self._budget = Budget(limit, source, advice)
        # Of all members except folders.
        self.names = self._zip.names
        self._names = frozenset(self.names)

    def __enter__(self) -> Package:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        from lxml.etree import LxmlError

        if self._context and error is None:
            # What is damaged besides the text keeps nobody from reading the text.
            with suppress(SourceError, LxmlError, ValueError):
                self._context.left_out.extend(LeftOut.counted(_left_out(self)))
        self._zip.close()
        # Hostile XML may be nested too deeply, or lack elements that the standard requires.
        if isinstance(error, (LxmlError, ValueError, OverflowError, RecursionError, MemoryError)):
            raise DamagedSource(
                f"{self.source} is not a valid {self._what} ({str(error)[:200]}): {self.advice}"
            ) from error

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def read(self, name: str) -> bytes:
        """Return an archive member's bytes. Raises DamagedSource if it can't be read, SourceTooLarge over the limit."""
        if name not in self._names:
            raise DamagedSource(f"{self.source} is incomplete, it lacks {name[:200]!r}: {self.advice}")
        (member,) = self._zip.members([name])
        return self._budget.read(member) or b""

    def xml(self, name: str) -> _Element:
        """Return the XML of an archive member, repaired if possible. Raises DamagedSource."""
        from lxml.etree import XMLSyntaxError

        try:
            root = parse_xml(self.read(name), recover=True)
        except (XMLSyntaxError, ValueError) as error:
            raise DamagedSource(f"{self.source} is damaged at {name[:200]!r} ({error}): {self.advice}") from error
        if root is None:
            raise DamagedSource(f"{self.source} is damaged at {name[:200]!r} (no XML): {self.advice}")
        refuse_entities(root, self.source, self.advice)
        return root


_RELATIONS, _MANIFEST = "_rels/.rels", "META-INF/manifest.xml"
_WITHIN = frozenset({"officeDocument", "slide", "worksheet", "chartsheet", "drawing", "footnotes", "endnotes"})
_KINDS = {
    **{"image": LeftOutKind.PICTURE, "chart": LeftOutKind.CHART, "chartEx": LeftOutKind.CHART},
    **dict.fromkeys(("oleObject", "package"), LeftOutKind.FILE),
    **dict.fromkeys(("video", "audio", "media"), LeftOutKind.RECORDING),
}
_ODF_PICTURE = re.compile(rb'href="(?:\./)?(Pictures/[^"]+)"')
_ODF_COMMENT = re.compile(rb"<(?:\w+:)?annotation[\s>]")
_ODF_OBJECT = re.compile(r"application/vnd\.(?:oasis|sun)\.opendocument\.(\w+)")
_ODF_KINDS = {"chart": LeftOutKind.CHART, "formula": LeftOutKind.EQUATION}
_BOOK_PICTURE = re.compile(r"(?!.*cover).+\.(?:jpe?g|png|gif|webp)", re.IGNORECASE)


def _left_out(package: Package) -> Iterator[tuple[LeftOutKind, int]]:
    """Yield the kinds of what a package has besides its text, with counts that add up.

    Of a picture that is used repeatedly, one is counted; none of headers, footers and designs, such as a logo.
    """
    if _RELATIONS in package:
        yield from _left_out_of_office(package)
    elif "content.xml" in package:
        content = package.read("content.xml")
        yield LeftOutKind.PICTURE, len(set(_ODF_PICTURE.findall(content)))
        yield LeftOutKind.COMMENT, len(_ODF_COMMENT.findall(content))
        for entry in package.xml(_MANIFEST).iter("{*}file-entry") if _MANIFEST in package else ():
            facts = {name.rpartition("}")[2]: value for name, value in entry.items()}
            # An object has a folder of its own; the document itself is "/".
            kind = _ODF_OBJECT.fullmatch(facts.get("media-type", ""))
            if kind and re.fullmatch("[^/]+/", facts.get("full-path", "")):
                yield _ODF_KINDS.get(kind[1], LeftOutKind.FILE), 1
    else:
        yield LeftOutKind.PICTURE, sum(_BOOK_PICTURE.fullmatch(name) is not None for name in package.names)


def _left_out_of_office(package: Package) -> Iterator[tuple[LeftOutKind, int]]:
    parts, seen = [""], {""}
    while parts:
        for _, kind, path in relations(package, parts.pop()):
            # Of charts, those of sheets aren't read: their values are in the sheet.
            if path in seen or (kind == "chart" and not path.startswith("xl/")):
                continue
            seen.add(path)
            if kind in _WITHIN:
                parts.append(path)
            elif kind == "comments":
                yield LeftOutKind.COMMENT, sum(1 for _ in package.xml(path).iter("{*}comment", "{*}cm"))
            elif kind in _KINDS and not path.endswith(".svg"):
                # An icon in SVG is counted by the other picture that is stored for older programs.
                yield _KINDS[kind], 1


# The name, in UTF-16, by which the container of an encrypted document lists the document.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
WITHOUT_PASSWORD = (
    "open it in the program that made it, or in LibreOffice, with its password, save it without one, and add that file"
)
"""What to do with an encrypted document."""
# The titles that programs write if the author gave none.
_NO_TITLE = re.compile(
    r"(microsoft word\b.*|word document|powerpoint presentation|presenta(?:tion|ción|cion|ção)\s*(?:de powerpoint|do "
    r"powerpoint)?\s*\d*|documento?\s*\d*|untitled|sin título|sem título|(?:book|libro|pasta|workbook)\s*\d*)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def refuse_container(data: bytes, source: str, suffix: str = "") -> None:
    """Raise EncryptedSource or UnsupportedSource for the container of Office before 2007, also used for encryption.

    `suffix` is that of the old format, such as ".doc"; without it, only encrypted documents are refused.
    """
    if _ENCRYPTED in data and data.startswith(OLE):
        raise EncryptedSource(f"{source} is encrypted: {WITHOUT_PASSWORD}")
    if suffix and (old := old_format(data, suffix)):
        raise UnsupportedSource(f"{source} is {old.what} with a new suffix: {old.advice}")


def main_part(package: Package, what: str) -> tuple[str, str, dict[str, str]]:
    """Return the name of the package's main part; its title; and its author and creation date."""
    found = related(package, "")
    if "officeDocument" not in found:
        raise ValueError(f"it names no {what}")
    root = package.xml(found["core-properties"]) if "core-properties" in found else ()
    texts: dict[str, str] = {}
    for element in root:
        texts.setdefault(local_name(element), " ".join((element.text or "").split()))
    title, date = texts.get("title", ""), _DATE.match(texts.get("created", ""))
    facts = {"author": texts.get("creator", ""), "date": date[0] if date else ""}
    return found["officeDocument"], "" if _NO_TITLE.fullmatch(title) else title, facts


def related(package: Package, part: str) -> dict[str, str]:
    """Return the first part of each kind of relation that a part (or the package: "") refers to, as kind → name."""
    return {kind: path for _, kind, path in reversed(list(relations(package, part)))}


def relations(package: Package, part: str) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the kind and the target part's name of each relation within the package."""
    folder, file = posixpath.split(part)
    name = posixpath.join(folder, "_rels", f"{file}.rels")
    if part and name not in package:
        return
    for relation in package.xml(name):
        path = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "").replace("\\", "/")))[1:]
        if path in package and relation.get("TargetMode") != "External":
            yield relation.get("Id", ""), relation.get("Type", "").rsplit("/", 1)[-1], path


def on_a_line(pieces: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Return pieces of text on one line, each marked as its kinds say: struck, raised or lowered."""
    texts = []
    for text, kinds in pieces:
        for kind in kinds:
            text = marked(text.replace("~~", "") if kind == STRUCK else text, kind)
        texts.append(text)
    return written("".join(texts)).replace("\n", " ")
