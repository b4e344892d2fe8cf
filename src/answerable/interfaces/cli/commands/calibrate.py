"""`answerable calibrate`: fit the refusal gate to the current embedder, for all libraries that use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from answerable.disk.files import make_folder, replace_file
from answerable.interfaces.cli.options import JsonOption
from answerable.interfaces.cli.printing import print_json, print_progress, print_text
from answerable.settings import load_settings

if TYPE_CHECKING:
    from answerable.evaluation.calibration import Calibration


def calibrate(
    sets: Annotated[list[str], Argument(metavar="FOLDER", help="Question sets in BEIR's layout.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Show the figures; save nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Fit refusals to your embedder. Half of each set's documents fit the gate, the other half measure it.

    A set is a folder with corpus.jsonl, queries.jsonl and qrels/test.tsv. Give two or more on different subjects:
    each set's questions are also asked about the other sets. The local embedder is already calibrated.
    """
    from answerable.evaluation.calibration import calibrate as fit
    from answerable.evaluation.sets import QuestionSet
    from answerable.wiring.build import build_answer_reader, build_embedder, gate_path

    settings = load_settings()
    loaded = [QuestionSet.load(Path(folder), folder) for folder in sets]
    embedder = build_embedder(settings)
    found = fit(
        loaded,
        embedder,
        settings.wrong_answers,
        on_progress=lambda name: print_progress(f"asking the questions of {name}"),
        reader=build_answer_reader(settings),
    )
    path = None if dry_run else gate_path(settings, embedder.fingerprint)
    if path:
        make_folder(path.parent)
        replace_file(path, json.dumps(found.gate.to_json(), indent=1) + "\n")
    _print(found, str(path or ""), as_json)


def _print(found: Calibration, path: str, as_json: bool) -> None:
    target = found.gate.wrong_answers
    if as_json:
        rows = [
            {
                "set": one.corpus,
                "questions": one.questions,
                "area_under_curve": one.area,
                "area_under_curve_of_plain_cosine": one.cosine_area,
                "refused": {kind.name.lower(): share for kind, share in one.refused.items()},
            }
            for one in found.figures
        ]
        print_json({"wrong_answers": target, "sets": rows, "gate": found.gate.to_json(), "kept_at": path})
        return
    for one in found.figures:
        print_text((one.corpus, "bold"), f": {one.questions} questions not used for fitting")
        print_text(f"  area under the curve, document removed: {one.area:.3f} (plain cosine: {one.cosine_area:.3f})")
        for kind, share in one.refused.items():
            print_text(f"  refused, {kind.value}: {100 * share:.1f} %")
    print_text(f"Refusals above are at the target of {target:g} % wrong answers (the setting wrong_answers).")
    if path:
        print_text(f"Saved to {path}. Delete that file to restore the gate that comes with the package.")
