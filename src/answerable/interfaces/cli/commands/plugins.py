"""`answerable plugins`: list what installed packages add."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from answerable.interfaces.cli.options import JsonOption
from answerable.interfaces.cli.printing import one_line, print_json, print_text

if TYPE_CHECKING:
    from answerable.wiring.plugins import PluginState


def plugins(as_json: JsonOption = False) -> None:
    """List the formats, splitters, embedders, stores and answerers that installed packages add.

    What is built in wins over a plug-in with the same suffix or name. docs/extending.md tells how to write one.
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
