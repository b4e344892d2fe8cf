"""`answerable doctor`: show what is installed and configured, and how fast it runs. `plugins`: what packages add."""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.errors import AnswerableError
from answerable.interfaces.cli.options import JsonOption, LibraryOption
from answerable.interfaces.cli.printing import one_line, print_json, print_rows, print_text
from answerable.settings import Settings, load_settings

if TYPE_CHECKING:
    from answerable.protocols import Fingerprint
    from answerable.wiring.plugins import PluginState


def doctor(library: LibraryOption = None, as_json: JsonOption = False) -> None:
    """Show versions, the embedder with its runtime and speed, the library, and changed settings."""
    import sqlite3

    from answerable import __version__
    from answerable.interfaces.cli.progress import working
    from answerable.wiring.stores import changed_settings, without_password

    settings = load_settings({"library": library})
    changed = changed_settings(settings)
    with working("measuring the embedder and the reader", enabled=not as_json):
        measured = {**_embedder(settings), **_reader(settings)}
    found = {
        "answerable": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "sqlite": sqlite3.sqlite_version,
        **measured,
        "cache": _cache(settings),
        "library": without_password(settings.library_address),
        "library_state": _library(settings),
        "settings": ", ".join(f"{name}={'***' if value is None else value}" for name, value in changed.items()),
    }
    if as_json:
        print_json(found)
    else:
        print_rows((name.replace("_", " "), str(value)) for name, value in found.items() if value)


def _embedder(settings: Settings) -> dict[str, Any]:
    from answerable.protocols import Passage
    from answerable.wiring.passages import build_local_embedder

    try:
        embedder = build_local_embedder(settings)
        sample = Passage("A sentence of a few words, to see how long it takes. " * 20)
        embedder.embed_passages([sample])
        started = time.perf_counter()
        embedder.embed_passages([sample])
        milliseconds = (time.perf_counter() - started) * 1000
    except AnswerableError as error:
        return {"embedder": f"failed: {error}"}
    tokens = embedder.count_tokens([sample.text])[0]
    return {
        "embedder": str(embedder.fingerprint),
        "embedder_runtime": embedder.runtime,
        "refusals": _gate(settings, embedder.fingerprint),
        "embedding_speed": f"{milliseconds:.0f} ms for a passage of {tokens} tokens",
    }


def _reader(settings: Settings) -> dict[str, Any]:
    from answerable.answering.reading import WINDOWS
    from answerable.wiring.answering import build_answer_reader

    reader = build_answer_reader(settings)
    if reader is None:
        return {"reader": "off" if settings.reader == "off" else "off: it needs OpenVINO"}
    windows = ["A sentence of a few words, to see how long it takes. " * 8] * WINDOWS
    try:
        reader.read("How long does it take?", windows)
        started = time.perf_counter()
        reader.read("How long does it take?", windows)
        milliseconds = (time.perf_counter() - started) * 1000
    except (AnswerableError, RuntimeError) as error:
        return {"reader": f"failed: {error}"}
    return {"reader": str(reader), "reading_speed": f"{milliseconds:.0f} ms for {WINDOWS} windows"}


def _gate(settings: Settings, fingerprint: Fingerprint) -> str:
    from answerable.wiring.answering import build_gate

    try:
        return build_gate(settings, fingerprint)[1]
    except AnswerableError as error:
        return f"failed: {error}"


def _cache(settings: Settings) -> str:
    files = [path for path in Path(settings.cache_path).rglob("*") if path.is_file()]
    return f"{settings.cache_path} ({sum(path.stat().st_size for path in files) / 1e6:.0f} MB)"


def _library(settings: Settings) -> str:
    from answerable.indexing.reports import waiting_note
    from answerable.wiring.build import build_library

    try:
        with build_library(settings, create=False) as library:
            stats, waiting = library.stats(), library.waiting()
    except AnswerableError as error:
        return str(error)
    if not stats.documents:
        return "empty"
    languages = ", ".join(f"{name or 'unknown'} {count}" for name, count in sorted(stats.languages.items()))
    left = f"; {waiting_note(waiting)}" if waiting else ""
    return f"{stats.documents} documents, {stats.chunks} passages ({languages}){left}"


def plugins(as_json: JsonOption = False) -> None:
    """List the formats, splitters, embedders, stores and answerers that installed packages add.

    A built-in part wins over a plug-in with the same suffix or name. docs/extending.md describes how to write one.
    """
    from answerable.wiring.plugins import READY, describe_plugins

    found = describe_plugins()
    if as_json:
        print_json({"plugins": [_plain(each) for each in found]})
    elif not found:
        print_text(("No installed package adds anything. See docs/extending.md for how to write one.", "yellow"))
    for each in () if as_json else found:
        plugin = each.plugin
        print_text(
            (one_line(plugin.name), "bold"), f"  {plugin.kind}  ", one_line(f"{plugin.package} {plugin.version}")
        )
        detail = f": {one_line(each.detail)}" if each.detail else ""
        print_text((f"    {each.state}{detail}", "dim" if each.state == READY else "yellow"), wrap=False)


def _plain(found: PluginState) -> dict[str, Any]:
    plugin = found.plugin
    named = {"name": plugin.name, "kind": plugin.kind, "package": plugin.package, "version": plugin.version}
    return {**named, "state": found.state, "detail": found.detail}
