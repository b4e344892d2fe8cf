"""reStructuredText, Org, AsciiDoc and LaTeX: sections with lines, and no quote of what people don't read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import answerable
from answerable.datatypes import Document, DocumentType
from answerable.errors import EmptySource
from answerable.formats.locate import Locator
from answerable.sources.dispatch import read_bytes
from answerable.sources.markup.latex import plain
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans

RST = """.. A secret comment
   over two lines.

=======
Harbour
=======

:Author: Ezra Pike

Boats come in every morning.

.. _opening:

Opening hours
-------------

.. note:: The harbour opens at six.
   It closes at ten.

.. image:: secret.png
   :alt: secret picture

.. code-block:: python
   :linenos:

   wait(6)

..
   Another secret.

Fees
~~~~
Boats pay 12 euros, as :ref:`opening` says.

----

.. [1] The fees are those of May.
.. |secret| replace:: a secret
"""
ORG = """#+TITLE: The garden
#+FILETAGS: :home:garden:
#+TODO: LATER | DONE
# A secret comment.
Words before all.
* TODO [#A] Call the plumber :urgent:
DEADLINE: <2024-05-03 Fri>
:PROPERTIES:
:ID: secret
:END:
He asks for 80 euros.
** LATER Roses
#+CAPTION: Prices of plants
| plant | price |
|-------+-------|
| rose  | 3     |
#+BEGIN_SRC python
water(roses)
#+END_SRC
#+BEGIN_COMMENT
A secret in a block.
#+END_COMMENT
* COMMENT Old plans
A secret plan.
** Below
Another secret.
* Shed
The key hangs behind the door.
"""
ADOC = """= The Manual
:author: Ada Byron
:revdate: 2024-03-05
:toc: left

Words before all.

// A secret comment.
== Mounting

[NOTE]
====
Use two bolts for each wheel.
====

////
A secret block.
////

[source,ruby]
----
== no heading
// no comment
----

.Prices
|===
| Bolt | 3 euros
|===

=== Greasing

Grease it once a year.
include::secret.adoc[]
"""
TEX = r"""\documentclass{article}
\usepackage{secret}
\title{On \emph{Boats} \& Tides}
\author{Ezra Pike}
\begin{document}
\maketitle
\begin{abstract}
We weigh boats at low tide.
\end{abstract}
\section[Short]{Methods \textbf{used}}\label{sec:secret}
% A secret comment.
The scale is 30\% exact. % secret remark
It was blue.
\begin{itemize}
\item First the bow.
\item Then the stern.
\end{itemize}
\begin{comment}
\section{Secret}
\end{comment}
\subsection*{Code}
\begin{verbatim}
\section{No heading}
% no comment
\end{verbatim}
\input{secret}
\end{document}
A secret at the end.
"""

Quoted = tuple[str, tuple[str, ...], int]


def read(name: str, content: str) -> Document:
    (document,) = read_bytes(content.encode(), f"/in/{name}")
    return document


def quoted(document: Document) -> list[Quoted]:
    """Everything that can be quoted, with its headings and its first line."""
    found = []
    locator = Locator(document)
    for chunk in SplitterByType().split(document):
        assert document.content[chunk.start : chunk.end] == chunk.content
        for start, end in evidence_spans(chunk, "en"):
            place = locator.location(chunk.start + start, chunk.start + end)
            assert place.lines
            found.append((chunk.content[start:end], place.headings, place.lines[0]))
    return found


EXPECTED: dict[str, tuple[str, DocumentType, str, list[Quoted]]] = {
    "a.rst": (
        RST,
        DocumentType.RST,
        "Harbour",
        [
            (":Author: Ezra Pike", ("Harbour",), 8),
            ("Boats come in every morning.", ("Harbour",), 10),
            ("The harbour opens at six.", ("Harbour", "Opening hours"), 17),
            ("It closes at ten.", ("Harbour", "Opening hours"), 18),
            ("wait(6)", ("Harbour", "Opening hours"), 26),
            ("Boats pay 12 euros, as :ref:`opening` says.", ("Harbour", "Opening hours", "Fees"), 33),
            ("[1] The fees are those of May.", ("Harbour", "Opening hours", "Fees"), 37),
        ],
    ),
    "a.org": (
        ORG,
        DocumentType.ORG,
        "The garden",
        [
            ("Words before all.", (), 5),
            ("TODO [#A] Call the plumber :urgent:\nDEADLINE: <2024-05-03 Fri>", ("Call the plumber",), 6),
            ("He asks for 80 euros.", ("Call the plumber",), 11),
            ("LATER Roses", ("Call the plumber", "Roses"), 12),
            ("Prices of plants", ("Call the plumber", "Roses"), 13),
            ("| plant | price |", ("Call the plumber", "Roses"), 14),
            ("| rose  | 3     |", ("Call the plumber", "Roses"), 16),
            ("water(roses)", ("Call the plumber", "Roses"), 18),
            ("The key hangs behind the door.", ("Shed",), 28),
        ],
    ),
    "a.adoc": (
        ADOC,
        DocumentType.ASCIIDOC,
        "The Manual",
        [
            ("Words before all.", ("The Manual",), 6),
            ("Use two bolts for each wheel.", ("The Manual", "Mounting"), 13),
            ("== no heading\n// no comment", ("The Manual", "Mounting"), 22),
            ("Prices", ("The Manual", "Mounting"), 26),
            ("| Bolt | 3 euros", ("The Manual", "Mounting"), 28),
            ("Grease it once a year.", ("The Manual", "Mounting", "Greasing"), 33),
        ],
    ),
    "a.tex": (
        TEX,
        DocumentType.LATEX,
        "On Boats & Tides",
        [
            ("We weigh boats at low tide.", (), 8),
            ("The scale is 30\\% exact.", ("Methods used",), 12),
            ("It was blue.", ("Methods used",), 13),
            ("First the bow.", ("Methods used",), 15),
            ("Then the stern.", ("Methods used",), 16),
            ("\\section{No heading}\n% no comment", ("Methods used", "Code"), 23),
        ],
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_only_what_people_read_is_quoted_with_its_line(name: str) -> None:
    content, kind, title, expected = EXPECTED[name]
    document = read(name, content)
    assert (document.content, document.type, document.title) == (content, kind, title)
    found = quoted(document)
    assert found == expected
    assert "secret" not in " ".join(text for text, _, _ in found).lower()


def test_facts_of_a_file_are_metadata() -> None:
    assert read("a.rst", RST).metadata == {"author": "Ezra Pike"}
    assert read("a.org", ORG).metadata == {"tags": ["home", "garden", "urgent"]}
    assert read("a.adoc", ADOC).metadata == {"author": "Ada Byron", "date": "2024-03-05"}
    assert read("a.tex", TEX).metadata == {"author": "Ezra Pike"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.rst", ".. only a comment\n"),
        ("a.org", "#+TITLE: x\n# only a comment\n"),
        ("a.adoc", "////\nonly a comment\n////\n"),
        ("a.tex", "\\documentclass{article}\n\\begin{document}\n% nothing\n\\end{document}\n"),
    ],
)
def test_a_file_of_comments_is_empty(name: str, content: str) -> None:
    with pytest.raises(EmptySource, match="nothing but comments and directives"):
        read(name, content)


@pytest.mark.parametrize("suffix", ["rst", "org", "adoc", "tex"])
def test_a_text_without_any_mark_is_read_whole(suffix: str) -> None:
    document = read(f"notes.{suffix}", "The pump costs 300 euros.\n\nIt is green.\n")
    assert document.title == "notes"
    assert [text for text, _, _ in quoted(document)] == ["The pump costs 300 euros.", "It is green."]


@pytest.mark.parametrize(
    ("name", "comment"),
    [
        ("a.rst", lambda words: f".. {words}\n"),
        ("a.org", lambda words: f"# {words}\n"),
        ("a.adoc", lambda words: f"// {words}\n"),
        ("a.tex", lambda words: f"% {words}\n"),
    ],
)
def test_a_long_comment_is_in_no_passage(name: str, comment: Callable[[str], str]) -> None:
    content = f"Before it.\n\n{comment('secret words ' * 500)}\nAfter it.\n"
    document = read(name, content)
    for size in (100, 1800):
        chunks = SplitterByType(size, 20).split(document)
        assert [chunk.content for chunk in chunks] == ["Before it.", "After it."]
        assert [chunk.sequence for chunk in chunks] == [0, 1]


def test_titles_in_latex_lose_their_commands() -> None:
    assert plain(r"A \textbf{bold} title~with \LaTeX{} \& more\\below") == "A bold title with & more below"


def test_a_table_of_org_is_computed(tmp_path: Path) -> None:
    rows = "| plant | price |\n|-------+-------|\n| rose | 3 |\n| oak | 40 |\n| lily | 7 |\n"
    (tmp_path / "costs.org").write_text(f"* Costs\n{rows}")
    with answerable.open(":memory:") as library:
        library.add(tmp_path / "costs.org")
        answer = library.ask("What is the total price?")
    assert "50 (3 rows)" in answer.text
    assert [str(each.location) for each in answer.citations] == ["Costs, line 4", "Costs, line 5", "Costs, line 6"]


def test_headings_without_an_end_in_latex() -> None:
    document = read("a.tex", "\\section{Open\nWords here.\n")
    assert document.parts[0].headings == ("Open",)
    assert [text for text, _, _ in quoted(document)] == ["Words here."]


@pytest.mark.parametrize(
    ("name", "content", "question", "quote", "place"),
    [
        ("a.rst", RST, "When does the harbour open?", "opens at six", "Harbour › Opening hours, line 17"),
        ("a.org", ORG, "Where does the key of the shed hang?", "behind the door", "Shed, line 28"),
        ("a.adoc", ADOC, "How many bolts for each wheel?", "two bolts", "The Manual › Mounting, line 13"),
        ("a.tex", TEX, "When do we weigh boats?", "at low tide", "line 8"),
    ],
)
def test_an_answer_cites_the_line_of_the_file(
    tmp_path: Path, name: str, content: str, question: str, quote: str, place: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with answerable.open(":memory:") as library:
        library.add(path)
        answer = library.ask(question)
        contents = library.ask("what is in here?")
    (citation, *_) = answer.citations
    assert quote in citation.quote
    assert str(citation.location) == place
    assert citation.link == f"{path.as_uri()}#L{place.rpartition(' ')[2]}"
    assert contents.citations
    assert "secret" not in contents.citations[0].quote.lower()
    assert "\\" not in contents.citations[0].quote
