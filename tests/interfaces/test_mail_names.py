"""A message is called by its subject and its date wherever people read its name; its id is for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import plain, run_here, run_in_terminal
from interfaces.test_completion import completed
from made_mail import letter, write_mailbox

import answerable
from answerable.interfaces.http.openai.completions import Completion
from answerable.interfaces.mcp.results import answer_text

RENT = "The rent of the flat in Cadiz Street is 870 euros a month, paid to the landlord by transfer."
QUESTION = "How much is the rent of the flat in Cadiz Street?"
ID = "CAF9x-771=Qq@mail.example.org"
IDS = re.compile(r"CAF9x|\w\d@x\.org")
LONG = "A subject that goes on and on: " + "boiler, heating, keys, " * 12


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of a mailbox: a message about the rent, two with one subject, one with none."""
    folder = tmp_path_factory.mktemp("mail")
    box = write_mailbox(
        folder / "inbox.mbox",
        [
            letter(RENT, subject="Rent of the flat", id=ID),
            letter("The boiler is repaired on Monday.", id="b1@x.org"),
            letter("The boiler works again.", id="b2@x.org", date="Wed, 06 Mar 2024 10:00:00 +0100"),
            letter("Las llaves están en el buzón del portal, junto a la puerta.", subject="", id="n1@x.org"),
            letter("The heating costs too much.", subject=LONG, id="n2@x.org"),
        ],
    )
    with answerable.open(folder / "library") as opened:
        opened.add(box)
    return folder / "library"


def test_a_message_is_cited_by_its_subject_and_date(library: Path) -> None:
    asked = run_here("ask", QUESTION, "--library", library).stdout
    assert "[1] Rent of the flat, 2024-03-05 21:15, Ana Ruiz\n" in asked
    searched = run_here("search", QUESTION, "--library", library).stdout
    assert "1. Rent of the flat, 2024-03-05 21:15, Ana Ruiz" in searched
    assert "Las llaves están en el buzón del portal, junto a la puerta., 2024-03-05 21:15, Ana Ruiz" in searched
    places = run_here("places", RENT, "--library", library).stdout
    assert "1. Rent of the flat, 2024-03-05 21:15, Ana Ruiz" in places
    assert not IDS.search(asked + searched + places)
    with answerable.open(library) as opened:
        answer = opened.ask(QUESTION)
        completion = Completion("m").whole(opened, QUESTION, answer)
    assert completion["sources"][0]["source"]["name"] == "1. Rent of the flat, 2024-03-05 21:15, Ana Ruiz"
    assert ID not in answer_text(answer)
    cited = json.loads(run_here("ask", QUESTION, "--library", library, "--json").stdout)["citations"][0]
    assert cited["source"].endswith(f"inbox.mbox!/{ID}")
    assert cited["type"] == "mail"


def test_lists_show_subject_date_and_mailbox(library: Path) -> None:
    listed = run_here("list", "--library", library).stdout
    assert re.search(r"^\w{8}  mail  en  +1  Rent of the flat, 2024-03-05  \S+/inbox\.mbox$", listed, re.MULTILINE)
    status, shown = run_in_terminal("list", "--library", library)
    assert status == 0
    assert "  Boiler, 2024-03-06\r\n" in plain(shown)
    assert not IDS.search(listed + plain(shown))
    documents = json.loads(run_here("list", "--library", library, "--json").stdout)["documents"]
    assert {each["date"] for each in documents} == {"2024-03-05", "2024-03-06"}


def test_filters_and_names_are_subjects(library: Path) -> None:
    offered = completed("ask", "x", "--source", "", library=library, shell="bash")
    assert r"Rent\ of\ the\ flat" in offered
    assert not any(map(IDS.search, offered))
    only = run_here("search", "flat", "--source", "Rent of the flat", "--library", library).stdout
    assert re.findall(r"^\d+\. ([^,]+),", only, re.MULTILINE) == ["Rent of the flat"]
    several = run_here("show", "Boiler", "--library", library)
    assert re.search(r" Boiler 2024-03-05 \S+/inbox\.mbox$", several.stderr, re.MULTILINE)
    assert not IDS.search(several.stderr)


def test_a_list_in_a_pipe_is_not_padded_to_the_longest_title(library: Path) -> None:
    lines = run_here("list", "--library", library).stdout.splitlines()
    assert len(max(lines, key=len)) > len(LONG)
    assert all(line == line.rstrip() for line in lines)
    assert next(len(line) for line in lines if "Rent of the flat" in line) < 110 + len(str(library))
    _, shown = run_in_terminal("list", "--library", library)
    assert all(len(line) <= 80 for line in plain(shown).split("\r\n") if "inbox.mbox" not in line)
