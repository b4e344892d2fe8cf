"""What is read of 60 files of 46 kinds, and whether places and states are right, beside markitdown and docling.

    python benchmarks/formats.py --public FOLDER --commands | sh   # gets 36 public files from GitHub with curl
    python benchmarks/formats.py --public FOLDER                   # measures, and writes the tables in docs/formats.md
    python benchmarks/formats.py --public FOLDER --only xlsx       # files of this kind anew, beside what is there

The other 24 files are made here, and 8 with states (`states.py` says how they are judged); they need espeak-ng.
markitdown and docling get environments of their own in the user's cache. docling's models aren't fetched, so it isn't
measured on PDF, pictures and recordings. Its environment has PyTorch: 6 GB.
`public.toml` in `format_files/` names the public files with their commits, and what to look for in them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

from measuring import ROOT, machine, run_python

sys.path.append(str(ROOT / "tests"))

from format_files.running import DOCLING, MARKITDOWN, READERS, as_json
from format_files.sample import Sample, problem, public_samples

RESULTS = Path(__file__).with_name("format_files") / "results.json"
PAGE = ROOT / "docs" / "generate_formats.py"


def main() -> None:
    """Runs what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", type=Path, required=True, help="the folder with the files of public projects")
    parser.add_argument("--commands", action="store_true", help="only print what gets the files that aren't there")
    parser.add_argument("--only", action="append", help="only this kind anew; may be repeated")
    parser.add_argument("--program", action="append", choices=READERS, help="only this program anew; may be repeated")
    parser.add_argument("--jobs", type=int, default=1, help="so many files at once; CPU times stay those of each")
    asked = parser.parse_args()
    if asked.commands:
        print("\n".join(command(each, asked.public) for each in public_samples() if problem(each, asked.public)))
        return
    programs = asked.program or list(READERS)
    with tempfile.TemporaryDirectory() as folder:
        files = [file for file in all_files(asked.public, Path(folder)) if not asked.only or file[0].kind in asked.only]
        with ThreadPoolExecutor(asked.jobs) as pool:
            measured = list(pool.map(lambda file: measure(*file, programs), files))
    peers = {system.name: system.requirements[0] for system in (MARKITDOWN, DOCLING)}
    about = {"when": f"{date.today()}", "peers": peers, "machine": machine()}
    anew = {file["name"]: file for file in measured}
    before = {file["name"]: file for file in json.loads(RESULTS.read_text("utf-8"))["files"]}
    kept = before if asked.only else anew
    files_found = [{**before.get(name, {}), **anew.get(name, {})} for name in kept]
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
    from format_files.made_state_pages import page_states
    from format_files.made_states import office_states

    listed = public_samples()
    if problems := list(filter(None, (problem(sample, public) for sample in listed))):
        sys.exit(
            "\n".join([*problems, f"Get them with: python benchmarks/formats.py --public {public} --commands | sh"])
        )
    made = [*documents(), *media(), *chats(), *office_states(), *page_states()]
    for sample in made:
        (folder / sample.name).write_bytes(sample.data)
    return [*((each, folder / each.name) for each in made), *((each, each.found_in(public)) for each in listed)]


def measure(sample: Sample, path: Path, programs: Iterable[str]) -> dict[str, Any]:
    """What each program finds in a file."""
    found = {name: as_json(READERS[name](sample, path)) for name in programs}
    for name, result in found.items():
        if result is None:
            continue
        result["failed"] = result["failed"].replace(str(path), sample.name)[:200]
        print(
            f"{sample.kind:<26} {sample.name[:40]:<40} {name:<10} words {result['words']:.2f}, "
            f"places {result['places']}/{result['asked']}, "
            f"states {sum(result['states'].values())}/{len(sample.states)}, "
            f"{result['cpu']:.1f} s {result['failed'][:90]}",
            flush=True,
        )
    asked = Counter(state.kind for state in sample.states)
    return {"name": sample.name, "kind": sample.kind, "repository": sample.repository, "states": asked, **found}


if __name__ == "__main__":
    main()
