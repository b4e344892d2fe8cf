"""What it costs to read a million WhatsApp messages: six exports of as many phones, all kept in memory as documents.

Beside it a loop by hand: one regular expression for the six headers, told which comes first, day or month; no notices,
no kinds, no offsets. With `--whatstk PYTHON`, a Python that has it, whatstk reads the same files as well.
`--messages 1000000 --repeats 3`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from generated_chats import LOCALES, US, Truth, write_chat
from measuring import cpu_seconds, median_of, peak_megabytes, run_python, show

CPU_GOAL = 25
MEMORY_GOAL = 1500

_WHATSTK = """
import json, resource, sys
from whatstk import df_from_whatsapp
found, kept = {}, []
for path in sys.argv[1:]:
    try:
        kept.append(df_from_whatsapp(path))
        found[path] = dict(kept[-1].username.value_counts())
    except Exception as error:
        print(path, repr(error), file=sys.stderr)
        found[path] = {}
found = {path: {str(name): int(count) for name, count in counts.items()} for path, counts in found.items()}
print(json.dumps({"senders": found, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def read_all(paths: Sequence[str]) -> dict[str, Any]:
    """Ours: every export as a document with a part for each message, all of them kept."""
    from answerable.sources.whatsapp.read import read_chat

    documents, seconds = {}, {}
    for path in paths:
        started = time.process_time()
        documents[path] = read_chat(Path(path).read_text("utf-8"), path)
        seconds[path] = time.process_time() - started
    memory = peak_megabytes()
    senders = {
        path: Counter(part.sender for part in document.parts if part.sender) for path, document in documents.items()
    }
    return {"senders": senders, "memory": memory, "seconds": seconds}


_HEADER = re.compile(
    r"\u200e?\[?(\d+)[/.](\d+)[/.](\d+),? (\d+):(\d\d)(?::(\d\d))?(?:\s([AaPp])\.?\s?[Mm]\.?)?(?:\]| -) ([^:]+): (.*)"
)


def read_by_hand(paths: Sequence[str]) -> dict[str, Any]:
    """The peer: line by line, a time, a sender and a text for each message, all of them kept."""
    chats: dict[str, list[tuple[datetime, str, str]]] = {}
    for path in paths:
        month_first = Path(path).stem == US.name
        messages = chats[path] = []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                match = _HEADER.match(line)
                if match is None:
                    if messages:
                        moment, sender, text = messages[-1]
                        messages[-1] = (moment, sender, f"{text}\n{line.rstrip()}")
                    continue
                first, second, year, hour, minute, seconds, half, sender, text = match.groups()
                day, month = (second, first) if month_first else (first, second)
                in_day = int(hour) % 12 + 12 * (half in "Pp") if half else int(hour)
                century = 2000 if len(year) == 2 else 0
                moment = datetime(
                    century + int(year), int(month), int(day), in_day, int(minute), int(seconds) if seconds else 0
                )
                messages.append((moment, sender, text))
    memory = peak_megabytes()
    return {
        "senders": {path: Counter(sender for _, sender, _ in messages) for path, messages in chats.items()},
        "memory": memory,
    }


def share_read(truths: dict[str, Truth], senders: dict[str, dict[str, int]]) -> float:
    """The share of the messages that were found under their senders."""
    found = sum((truth.by_sender & Counter(senders[path])).total() for path, truth in truths.items())
    return found / sum(truth.messages for truth in truths.values())


def main() -> None:
    """Writes the exports, reads them in processes that take turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--whatstk", metavar="PYTHON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        truths: dict[str, Truth] = {}
        for number, locale in enumerate(LOCALES):
            path = Path(folder) / f"{locale.name}.txt"
            share = (options.messages + number) // len(LOCALES)
            truths[str(path)] = write_chat(path, locale, share)
        reports: dict[str, Any] = {}

        def ours(how: str) -> float:
            outcome = run_python(__file__, how, *truths)
            reports[how] = outcome.report
            return outcome.cpu

        def whatstk() -> float:
            before = cpu_seconds()
            done = subprocess.run([options.whatstk, "-c", _WHATSTK, *truths], stdout=subprocess.PIPE, check=True)
            reports["whatstk"] = json.loads(done.stdout.splitlines()[-1])
            return cpu_seconds() - before

        measures = {"read": lambda: ours("read"), "hand": lambda: ours("hand")}
        if options.whatstk:
            measures["whatstk"] = whatstk
        cpu = dict(zip(measures, median_of(options.repeats, *measures.values()), strict=True))
    titles = {"read": "read_chat", "hand": "by hand", "whatstk": "whatstk"}
    rows: list[tuple[str, float, str]] = []
    for name, report in reports.items():
        rows += [
            (f"{titles[name]}, whole process", cpu[name], "CPU s"),
            (f"{titles[name]}, most memory", report["memory"], "MB"),
            (f"{titles[name]}, messages found", share_read(truths, report["senders"]), "of all"),
        ]
    rows += [(f"read_chat / {titles[name]}", cpu["read"] / cpu[name], "times") for name in cpu if name != "read"]
    rows += [(f"read_chat, {Path(path).stem}", spent, "CPU s") for path, spent in reports["read"]["seconds"].items()]
    is_met = cpu["read"] <= CPU_GOAL and reports["read"]["memory"] <= MEMORY_GOAL
    goal = {"CPU s": CPU_GOAL, "MB": MEMORY_GOAL, "met": is_met if options.messages >= 1_000_000 else None}
    show("chats", rows, messages=sum(truth.messages for truth in truths.values()), goal=goal)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["read", *paths]:
            print(json.dumps(read_all(paths)))
        case ["hand", *paths]:
            print(json.dumps(read_by_hand(paths)))
        case _:
            main()
