"""List the contents of the wheel and the source archive, and write checksums: python tools/distributions.py dist"""

import sys
import tarfile
from collections import Counter
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

DEPTH = 2
CHECKSUMS = "SHA256SUMS"


def contents(archive: Path) -> dict[str, int]:
    """Return the files of a wheel or source archive with their sizes in bytes, without the archive's own folder."""
    if archive.suffix == ".whl":
        with ZipFile(archive) as wheel:
            return {member.filename: member.file_size for member in wheel.infolist()}
    with tarfile.open(archive) as source:
        return {member.name.partition("/")[2]: member.size for member in source if member.isfile()}


def main(folder: Path) -> None:
    """Print folders and sizes of each archive; write the checksums."""
    archives = sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])
    for archive in archives:
        files = contents(archive)
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB, {len(files):,} files")
        counts: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        for name, size in files.items():
            # Group files by folder down to a depth; a file above that depth is listed by its name.
            part = "/".join(name.split("/")[:-1][:DEPTH]) or name
            counts[part] += 1
            sizes[part] += size
        for part, size in sizes.most_common():
            print(f"  {size / 1e6:8.2f} MB {counts[part]:5} files  {part}")
    lines = [f"{sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n" for archive in archives]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
    print("".join(lines), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
