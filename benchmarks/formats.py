"""What is read of 60 files of 46 kinds, and whether the places are right, beside markitdown on the same files.

    python benchmarks/formats.py --public FOLDER --commands | sh   # gets 36 public files from GitHub with curl
    python benchmarks/formats.py --public FOLDER                   # measures, and writes the tables in docs/formats.md
    python benchmarks/formats.py --public FOLDER --only xlsx       # files of this kind anew, beside what is there

The other 24 files are made here; they need espeak-ng. markitdown gets an environment of its own in the user's cache.
`public.toml` in `format_files/` names the public files with their commits, and what to look for in them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

from measuring import ROOT, machine, run_python

sys.path.append(str(ROOT / "tests"))

from format_files.running import MARKITDOWN, READERS, as_json
from format_files.sample import Sample, problem, public_samples

RESULTS = Path(__file__).with_name("format_files") / "results.json"
PAGE = ROOT / "docs" / "generate_formats.py"


def main() -> None:
    """Runs what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", type=Path, required=True, help="the folder with the files of public projects")
    parser.add_argument("--commands", action="store_true", help="only print what gets the files that aren't there")
    parser.add_argument("--only", action="append", help="only this kind anew; may be repeated")
    parser.add_argument("--jobs", type=int, default=1, help="so many files at once; CPU times stay those of each")
    asked = parser.parse_args()
    if asked.commands:
        print("\n".join(command(each, asked.public) for each in public_samples() if problem(each, asked.public)))
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [file for file in all_files(asked.public, Path(folder)) if not asked.only or file[0].kind in asked.only]
        with ThreadPoolExecutor(asked.jobs) as pool:
            measured = list(pool.map(lambda file: measure(*file), files))
    about = {"when": f"{date.today()}", "markitdown": MARKITDOWN.requirements[0], "machine": machine()}
    anew = {file["name"]: file for file in measured}
    kept = json.loads(RESULTS.read_text("utf-8"))["files"] if asked.only else measured
    files_found = [anew.get(file["name"], file) for file in kept]
    RESULTS.write_text(json.dumps({**about, "files": files_found}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    run_python(PAGE)


def command(sample: Sample, folder: Path) -> str:
    """What gets a public file."""
    return f"curl -fsSL --create-dirs -o {shlex.quote(str(sample.found_in(folder)))} {shlex.quote(sample.address)}"


def all_files(public: Path, folder: Path) -> list[tuple[Sample, Path]]:
    """All files, those made here written to a folder. Exits with advice if another isn't there."""
    from format_files.made import documents
    from format_files.made_chats import chats
    from format_files.made_media import media

    listed = public_samples()
    if problems := list(filter(None, (problem(sample, public) for sample in listed))):
        sys.exit(
            "\n".join([*problems, f"Get them with: python benchmarks/formats.py --public {public} --commands | sh"])
        )
    made = [*documents(), *media(), *chats()]
    for sample in made:
        (folder / sample.name).write_bytes(sample.data)
    return [*((each, folder / each.name) for each in made), *((each, each.found_in(public)) for each in listed)]


def measure(sample: Sample, path: Path) -> dict[str, Any]:
    """What each reader finds in a file."""
    found = {name: as_json(read(sample, path)) for name, read in READERS.items()}
    for name, result in found.items():
        result["failed"] = result["failed"].replace(str(path), sample.name)[:200]
        print(
            f"{sample.kind:<26} {sample.name[:40]:<40} {name:<10} words {result['words']:.2f}, "
            f"places {result['places']}/{result['asked']}, {result['cpu']:.1f} s {result['failed'][:90]}",
            flush=True,
        )
    return {"name": sample.name, "kind": sample.kind, "repository": sample.repository, **found}


if __name__ == "__main__":
    main()
