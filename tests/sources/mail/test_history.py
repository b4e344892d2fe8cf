"""What of a message's text is its sender's own."""

from __future__ import annotations

import time

import pytest

from answerable.sources.mail.contents import unwrapped
from answerable.sources.mail.letter import own_text


@pytest.mark.parametrize(
    "quoted",
    [
        "On Tue, 5 Mar 2024 at 21:15, Ben <ben@example.org> wrote:\n> The old price is 40.\n> Ben",
        "On Tue, 5 Mar 2024 at 21:15, Ben Long Name\n<ben@example.org> wrote:\n\n> The old price is 40.",
        "On Tue, 5 Mar 2024, Ben wrote:\nThe old price is 40.",
        "El mar, 5 mar 2024 a las 21:15, Ben (<ben@example.org>) escribió:\n> The old price is 40.",
        "Em ter., 5 de mar. de 2024 às 21:15, Ben <ben@example.org> escreveu:\n\n> The old price is 40.",
        "Le mar. 5 mars 2024 à 21:15, Ben <ben@example.org> a écrit :\n> The old price is 40.",
        "Am 05.03.2024 um 21:15 schrieb Ben:\n> The old price is 40.",
        "Ben <ben@example.org> wrote:\n> The old price is 40.",
        "-----Original Message-----\nFrom: Ben\nSent: Tuesday\nThe old price is 40.",
        "-----Mensaje original-----\nDe: Ben\nThe old price is 40.",
        "-----Mensagem original-----\nDe: Ben\nThe old price is 40.",
        "________________________________\nFrom: Ben <ben@example.org>\nSent: Tuesday, 5 March 2024 21:15\nTo: Ana\n"
        "Subject: Price\n\nThe old price is 40.",
        "*De:* Ben <ben@example.org>\n*Enviado:* martes, 5 de marzo de 2024\n*Para:* Ana\n\nThe old price is 40.",
        "> The old price is 40.",
        "-- \nAna Ruiz\nThe old price is 40.",
        "--\nAna Ruiz\nThe old price is 40.",
        "Sent from my iPhone",
        "Enviado desde mi iPhone\n\nOn 5 Mar 2024, at 21:15, Ben <ben@example.org> wrote:\n\n> The old price is 40.",
    ],
)
def test_history_and_signatures_are_left_out(quoted: str) -> None:
    assert own_text(f"The new price is 50.\n\n{quoted}\n") == "The new price is 50."


@pytest.mark.parametrize(
    "text",
    [
        "On Friday Ben wrote a letter: it is in the hall.",
        "From here on the price is 50.\nDate: see below",
        "El libro que escribió Ben:\nme gusta.",
        "Prices - see below -- are 50.",
        "--------\nPrices\n--------\nare 50.",
        "A 5% discount: 50.",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert own_text(text) == text


def test_answers_between_quotations_stay() -> None:
    text = "On 5 Mar 2024 at 21:15, Ben wrote:\n> Which price?\n\nFifty.\n\n> And the day?\n\nFriday.\n\n-- \nAna"
    assert own_text(text) == "> Which price?\n\nFifty.\n\n> And the day?\n\nFriday."
    assert own_text("Dear Ben,\n> > Hello,\n>\n> Which\n> price?\n\nFifty.") == "Dear Ben,\n> Which\n> price?\n\nFifty."


@pytest.mark.parametrize(
    "text",
    [
        "On 5 Mar 2024 at 21:15, Ben wrote:\n\n> I ask for the price.\n>\n> Ben\n\nFifty.",
        "> The price, please.\n\nFifty.\n\n> Ben\n",
        "Fifty.\n\nOn 5 Mar 2024 at 21:15, Ben wrote:\n> Which price?\n\n> Ben",
    ],
)
def test_a_whole_message_above_or_below_the_answer_is_left_out(text: str) -> None:
    assert own_text(text) == "Fifty."


@pytest.mark.parametrize(
    "text",
    [
        "On 5 Mar 2024 at 21:15, Ben wrote:\n\n> Hello,\n>\n> Which price?\n>\n> Thanks,\n> Ben\n\nFifty.",
        "> Which price?\n\nFifty.\n\n> Ben\n",
        "-- \nAna\n\n> Which price?\n\nFifty.",
    ],
)
def test_a_question_above_the_answer_stays(text: str) -> None:
    assert own_text(text) == "> Which price?\n\nFifty."
    assert own_text(f"Hello Ben,\n{text}") == "Hello Ben,\n> Which price?\n\nFifty."


def test_the_last_paragraph_of_a_quotation_stays() -> None:
    quoted = ">> When?\n> May.\n>\n> I want the boat\n> and the oars\n"
    assert own_text(f"Dear Ben,\n{quoted}\nFifty.") == "Dear Ben,\n> May.\n\nFifty."
    assert own_text(f"Dear Ben,\n{quoted[16:]}\nFifty.") == "Dear Ben,\n> I want the boat\n> and the oars\n\nFifty."


def test_nothing_else_is_left() -> None:
    assert own_text("> The old price is 40.") == "> The old price is 40."
    assert own_text("-- \nAna") == "-- \nAna"


@pytest.mark.parametrize(
    ("subject", "marker"),
    [
        ("Fwd: Price", "---------- Forwarded message ---------\nFrom: Ben\nDate: Tue, 5 Mar 2024\n"),
        ("Price", "---------- Forwarded message ---------\nFrom: Ben\nDate: Tue, 5 Mar 2024\n"),
        ("Price", "Begin forwarded message:\n\n> From: Ben\n"),
        ("RV: Precio", "-----Mensaje original-----\nDe: Ben\n"),
        ("ENC: Preço", "De: Ben\nEnviado: terça-feira\n"),
    ],
)
def test_a_forwarded_message_stays(subject: str, marker: str) -> None:
    text = f"See below.\n\n-- \nAna\n\n{marker}\nThe price is 40."
    own = own_text(text, subject)
    assert own.startswith("See below.")
    assert own.endswith("The price is 40.")


def test_broken_lines_are_joined() -> None:
    text = "The boiler was \nrepaired on \nFriday.\nIt cost 90.\n>> Who \n>> came?\n> Ben\n-- \nAna "
    assert unwrapped(text) == "The boiler was repaired on Friday.\nIt cost 90.\n>> Who came?\n> Ben\n-- \nAna "
    assert unwrapped("天気 \nです", delete_space=True) == "天気です"


@pytest.mark.parametrize("line", ["On a 1 ", "> x", "El 5 <a@b", "From: x", "--", "____________", "", "[" * 200])
def test_long_texts_take_time_in_proportion(line: str) -> None:
    text = f"{line}\n" * (500_000 // (len(line) + 1))
    started = time.process_time()
    own_text(text)
    assert time.process_time() - started < 3
