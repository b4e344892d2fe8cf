"""The format of an exported library (docs/backup.md), read as untrusted input: everything is checked before it is used.

Archive members are read from beginning to end, never beyond the size in the manifest. No name in the zip is used as a
path. Lines may be long enough for the longest document that can be added.
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TypeVar
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt

from answerable.codec import from_json, made
from answerable.datatypes import Document, Location, Part
from answerable.errors import LibraryError, LibraryFormatError
from answerable.protocols import Fingerprint, IndexedChunk

# The format's number, documented in docs/backup.md; it changes if earlier versions can't read the new format.
FORMAT = 1
MANIFEST = "manifest.json"
DOCUMENTS = "documents.jsonl"
CHUNKS = "chunks.jsonl"
RECORDS = "records.jsonl"
VECTORS = "vectors.npy"
SENTENCES = "sentence_vectors.npy"
SCALES = "sentence_scales.npy"
LINES = (DOCUMENTS, CHUNKS, RECORDS)
ARRAYS = (VECTORS, SENTENCES, SCALES)
MEMBERS = (*LINES, *ARRAYS)

TYPES: Mapping[str, np.dtype[Any]] = {VECTORS: np.dtype("<f4"), SENTENCES: np.dtype("|i1"), SCALES: np.dtype("<f4")}


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A line of documents.jsonl: a document, and the number of its lines in chunks.jsonl."""

    document: Document
    chunks: int


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A line of chunks.jsonl; the chunk's content is `content[start:end]` of the document.

    `rows` is the number of the chunk's sentence vectors: one for each of `sentences`, or 0.
    """

    document_id: str
    id: str
    sequence: int
    start: int
    end: int
    location: Location
    terms: Mapping[str, int]
    fields: Mapping[str, Any]
    context: str = ""
    parts: tuple[Part, ...] = ()
    sentences: tuple[tuple[int, int], ...] = ()
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an unpacked archive member in bytes, and its SHA-256 in hexadecimal."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Number of rows of each kind."""

    documents: int = 0
    chunks: int = 0
    sentences: int = 0
    records: int = 0

    def shape(self, member: str, dimension: int) -> tuple[int, ...]:
        """Return the shape of an array."""
        if member == SCALES:
            return (self.sentences,)
        return (self.chunks if member == VECTORS else self.sentences), dimension


@dataclass(frozen=True, slots=True)
class Manifest:
    """manifest.json: format, embedder (None for an empty library), counts, and sizes of the members."""

    format: int
    fingerprint: Fingerprint | None = None
    counts: Counts = field(default_factory=Counts)
    members: Mapping[str, Size] = field(default_factory=dict)

    @property
    def dimension(self) -> int:
        """Dimension of the vectors."""
        return self.fingerprint.dimension if self.fingerprint else 0


OF_CHUNK = ("document_id", "id", "sequence", "start", "end", "location", "context", "parts")
"""The fields that a row and a chunk have in common."""


def chunk_row(indexed: IndexedChunk) -> ChunkRow:
    """Return a chunk's row, without vectors; equal chunks give equal rows, whatever store they come from."""
    chunk = indexed.chunk
    return ChunkRow(
        **{name: getattr(chunk, name) for name in OF_CHUNK},
        terms=dict(sorted(indexed.terms.items())),
        fields={name: [_usual(value) for value in values] for name, values in sorted(indexed.fields.items())},
        sentences=indexed.sentences,
        rows=len(indexed.sentence_vectors),
    )


def array_header(member: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of an array in NumPy's format."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": TYPES[member].str, "fortran_order": False, "shape": shape})
    return header.getvalue()


def _usual(value: Any) -> Any:
    """Convert a whole float to an int, since stores may return either."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Row = TypeVar("Row")

# Bytes: more than the longest document that can be added.
_LONGEST_LINE = 1_000_000_000
# Bytes: many times the size of a manifest (about 1,000).
_LONGEST_MANIFEST = 100_000
# Sixteen times the dimension of the largest embedders.
_LARGEST_DIMENSION = 65_536
# Bytes in memory at once.
_BLOCK = 1 << 20
# Exceptions of `zipfile`, zlib, NumPy and the codec for a damaged zip. An OSError comes only from a wrong offset in the
# zip, since `_File` raises the disk's errors as LibraryError.
_BROKEN = (BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, OverflowError)


class Archive:
    """An open export and context manager. Raises LibraryErrors that name the archive member and, if known, the line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _system_errors(path):
            if not path.is_file():
                raise LibraryError(f"There is no file {path}. Give the name of a file that answerable export made.")
            self._file = io.BufferedReader(_File(path))
        try:
            with self.reading("the zip"):
                self._zip = ZipFile(self._file)
            self.manifest = self._read_manifest()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Convert errors raised inside the block to `damaged` errors that name `what`, the part being read."""
        try:
            yield
        except LibraryError:
            raise
        except _BROKEN as error:
            raise self.damaged(what, str(error) or type(error).__name__) from error

    def damaged(self, where: str, reason: str) -> LibraryError:
        """Return the error for a file that has changed since its export."""
        return LibraryError(
            f"{self._path} can't be imported ({where}: {reason}). Take an undamaged copy of it, or export the library "
            "again."
        )

    def rows(self, member: str, kind: type[Row]) -> Iterator[tuple[int, Row]]:
        """Yield the number (from 1) and the parsed row of each line of a member."""
        with self.reading(member), self._open(member) as lines:
            number = 0
            while line := lines.readline(_LONGEST_LINE + 1):
                number += 1
                with self.reading(f"{member}, line {number}"):
                    if len(line) > _LONGEST_LINE:
                        raise ValueError(f"it is longer than {_LONGEST_LINE:,} bytes")
                    row = made(kind, from_json(line))
                yield number, row

    @contextmanager
    def array(self, member: str) -> Iterator[ArrayRows]:
        """Open an array member; its rows are read in order with `ArrayRows.take`."""
        with self.reading(member), self._open(member) as file:
            shape = self.manifest.counts.shape(member, self.manifest.dimension)
            header = array_header(member, shape)
            if file.read(len(header)) != header:
                raise ValueError("its type or shape isn't that of the manifest")
            yield ArrayRows(file, shape[1:], TYPES[member])
            if file.read(1):
                raise ValueError("it has more rows than the manifest gives")

    def _open(self, member: str) -> io.BufferedReader:
        return io.BufferedReader(_Checked(self._zip.open(member), self.manifest.members[member]), _BLOCK)

    def _read_manifest(self) -> Manifest:
        infos = {info.filename: info for info in self._zip.infolist()}
        with self.reading("the zip"):
            if len(infos) != len(self._zip.infolist()) or infos.keys() != {MANIFEST, *MEMBERS}:
                raise ValueError(f"it doesn't hold exactly {MANIFEST}, {', '.join(MEMBERS)}")
            if any(info.compress_type not in (ZIP_DEFLATED, ZIP_STORED) for info in infos.values()):
                raise ValueError("its members aren't compressed as in an export")
        with self.reading(MANIFEST), self._zip.open(MANIFEST) as file:
            plain = from_json(file.read(_LONGEST_MANIFEST))
            if plain.get("format") != FORMAT:
                raise LibraryFormatError(
                    f"{self._path} has format {str(plain.get('format'))[:20]}; this version of answerable reads format "
                    f"{FORMAT}. Use the version that made it."
                )
            manifest = made(Manifest, plain)
            _check(manifest)
            for name, size in manifest.members.items():
                if infos[name].file_size != size.bytes:
                    raise ValueError(f"{name} has {infos[name].file_size:,} bytes, not {size.bytes:,}")
        return manifest


class ArrayRows:
    """The rows of an array, read from the file as `take` asks for them."""

    def __init__(self, file: io.BufferedReader, shape: tuple[int, ...], kind: np.dtype[Any]) -> None:
        self._file = file
        self._shape = shape
        self._kind = kind
        self._bytes = math.prod(shape) * kind.itemsize

    def take(self, rows: int) -> npt.NDArray[Any]:
        """Return the next rows. Raise ValueError if there are fewer."""
        data = self._file.read(rows * self._bytes)
        if len(data) < rows * self._bytes:
            raise ValueError("it has too few rows")
        return np.frombuffer(data, self._kind).reshape(rows, *self._shape)


@contextmanager
def _system_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LibraryError(
            f"{path} can't be read ({error.strerror or error}). Check its permissions and its disk, then try again."
        ) from error


class _File(io.FileIO):
    """A file that raises system errors as LibraryError: to zipfile, they would look like a damaged zip."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._path = path

    def readinto(self, buffer: Any) -> int | None:
        with _system_errors(self._path):
            return super().readinto(buffer)

    def readall(self) -> bytes:
        with _system_errors(self._path):
            return super().readall()


class _Checked(io.RawIOBase):
    """A member of a zip; its size is checked while it is read, and its SHA-256 at the end."""

    def __init__(self, file: IO[bytes], size: Size) -> None:
        self._file = file
        self._left = size.bytes
        self._expected = size.sha256
        self._digest = sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._file.read(min(len(buffer), self._left + 1))
        self._left -= len(block)
        if self._left < 0:
            raise ValueError("it is longer than the manifest gives")
        self._digest.update(block)
        if not block and (self._left or self._digest.hexdigest() != self._expected):
            raise ValueError("it isn't what was exported: its SHA-256 differs")
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        super().close()


def _check(manifest: Manifest) -> None:
    """Raise ValueError for impossible counts and sizes."""
    counts, dimension = manifest.counts, manifest.dimension
    if manifest.members.keys() != set(MEMBERS):
        raise ValueError("it doesn't list the members of an export")
    if not 0 <= dimension <= _LARGEST_DIMENSION or (counts.chunks and not dimension):
        raise ValueError("its vectors have no embedder or an impossible dimension")
    if min(counts.documents, counts.chunks, counts.sentences, counts.records) < 0:
        raise ValueError("a count is negative")
    for member in ARRAYS:
        shape = counts.shape(member, dimension)
        size = len(array_header(member, shape)) + math.prod(shape) * TYPES[member].itemsize
        if manifest.members[member].bytes != size:
            raise ValueError(f"{member} can't have {manifest.members[member].bytes:,} bytes")
