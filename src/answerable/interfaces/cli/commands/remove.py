"""`answerable remove`: delete a document, or a followed folder, file or site with its documents."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from answerable.datatypes import DocumentType
from answerable.interfaces.cli.completion import complete_documents
from answerable.interfaces.cli.options import JsonOption, LibraryOption, open_library
from answerable.interfaces.cli.printing import counted, one_line, print_json, print_text


def remove(
    document: Annotated[
        str,
        Argument(
            metavar="DOCUMENT",
            help="Its path, file name, start of its id, or a part of its title; or a folder or site that was added.",
            autocompletion=complete_documents,
        ),
    ],
    library: LibraryOption = None,
    forget: Annotated[
        bool, Option("--forget", help="Also erase its vectors in the cache, which all libraries share.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove a document from the library without a trace, or all documents of a folder or site. The files stay.

    In a library of over 10,000 passages, data of it may stay in the library's files; then the command says so.
    A folder, file or site that was added is no longer followed. A single document from a followed folder or site
    returns with the next sync if its file or page still exists.
    """
    from answerable.maintenance.erasing import erasing_note

    with open_library(library) as opened:
        origins = opened.origins()
        named = [origin for origin in origins if origin.is_called(document)]
        if not named:
            found = opened.document(opened.resolve(document))
            # The name of a file that was added by itself stops following it; an id removes only the document.
            named = [origin for origin in origins if origin.name == found.source and not found.id.startswith(document)]
        if named:
            name = named[0].name
            report = opened.unfollow(name, forget)
        else:
            opened.remove(found.id, forget)
        unerased = opened.unerased()
    if named and as_json:
        print_json({"origin": name, "documents": report.removed, "unerased": unerased})
    elif named:
        print_text(f"removed {counted(report.removed, 'document')}  ", one_line(name), wrap=False)
    elif as_json:
        print_json({"removed": found.id, "unerased": unerased})
    else:
        name = found.title if found.type == DocumentType.MAIL else found.source
        print_text(f"removed {found.id[:8]}  ", one_line(name or found.title), wrap=False)
    if unerased and not as_json:
        print_text((erasing_note(unerased), "dim"))
