"""`answerable chat`: answer one question after another."""

from __future__ import annotations

from answerable.interfaces.cli.options import LibrariesOption, ModelOption, open_libraries


def chat(library: LibrariesOption = None, model: ModelOption = None) -> None:
    """Ask question after question. Follow-ups ("and on Sunday?") are completed from the questions before.

    /sources and /why explain an answer, /filter narrows the search, /help lists the commands; exit ends. Questions may
    also come from a pipe, one per line.
    """
    from answerable.interfaces.cli.chatting import Chat

    Chat(lambda: open_libraries(library, model)).run()
