"""Fuzz e-mail messages, mailboxes, Outlook files, calendars and contacts."""

from __future__ import annotations

from functools import partial

# Loaded before anything is watched.
import trafilatura  # noqa: F401
from draw import Draw
from fuzz_targets import Target
from made_mail import ole_file, properties, wide
from reading_here import read_file
from soundness import assert_same_again, assert_sound

from answerable.sources.entries import read_calendar, read_contacts
from answerable.sources.text import decode
from answerable.text.languages import document_language

document_language("The first text loads what it takes to tell languages, and it is read once for all.")
MAIL = (
    "From: Ana <ana@example.org>\n",
    "From: =?utf-8?Q?N=C3=BA?= =?x?B?!!?= <a@x>, (c) b@x;\n",
    "To: g: \"a, b\" <a@x>, c@x;\n",
    "Subject: =?utf-8?B?w7o=?=\n x\n",
    "Date: Tue, 05 Mar 2024 21:15:00 +0100\n",
    "Date: 99 Foo 0000 -9999\n",
    "Message-ID: <a@x>\nReferences: <b@x> <c@x>\n",
    'Content-Type: multipart/mixed; boundary="b"\n',
    "Content-Type: multipart/alternative; boundary=c\n",
    "Content-Type: text/html; charset=utf-7\n",
    "Content-Type: text/plain; charset=\"iso-2022-jp\"; format=flowed; delsp=yes\n",
    "Content-Type: message/rfc822\n",
    "Content-Type: text/calendar; name*0*=utf-8''%E2%82; name*1=x.ics\n",
    "Content-Transfer-Encoding: base64\n",
    "Content-Transfer-Encoding: quoted-printable\n",
    "Content-Transfer-Encoding: x-uuencode\n",
    "Content-Disposition: attachment; filename=\"../a.md\"\n",
    "Content-Disposition: inline\nContent-ID: <x>\n",
    "\n--b\n",
    "\n--b--\n",
    "\n--c\n",
    "\n--c--\n",
    "\n\n",
    "From a@x Tue Mar  5 21:15:00 2024\n",
    "On 5 Mar 2024 Ana <a@x> wrote:\n> old\n",
    "Content-Location: https://example.org/a\nContent-Type: text/html\n\n<p>A saved page.</p>\n",
    "-----Original Message-----\nFrom: x\nSent: y\n",
    "-- \n",
    "begin 644 x\n",
    "<p>text<blockquote>",
    "# Text of a message.\n",
    "12\n",
    "\x80\xff",
    "\x1b$B",
)  # fmt: skip
ENTRIES = (
    "BEGIN:VCALENDAR\n",
    "BEGIN:VEVENT\n",
    "END:VEVENT\n",
    "BEGIN:VTODO\nDUE:20240230\n",
    "BEGIN:VALARM\n",
    "END:VALARM\n",
    "SUMMARY:Dentist\\, again\n",
    "DTSTART;TZID=Europe/Madrid:20240305T101500\n",
    "DTSTART;VALUE=DATE:99991231\nDTEND;VALUE=DATE:00010101\n",
    "DURATION:P99999W\n",
    "RRULE:FREQ=MONTHLY;BYDAY=-1FR,2TU;BYMONTH=13;COUNT=x;UNTIL=y\n",
    "RRULE:FREQ=YEARLY;BYMONTHDAY=-1,31;INTERVAL=2\n",
    "RRULE:FREQ=SECONDLY\n",
    "RRULE:FREQ=DAILY;COUNT=999999;BYSETPOS=-1;BYDAY=MO,TU,WE\n",
    "RRULE:FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2;UNTIL=99991231\n",
    "DTSTART:00010101T000000\n",
    "EXDATE:20240101,x\n",
    'ATTENDEE;CN="a:b";PARTSTAT=DECLINED:mailto:a@x\n',
    "DESCRIPTION:a\n b\\n\n c\n",
    "BEGIN:VCARD\n",
    "END:VCARD\n",
    "FN;ENCODING=QUOTED-PRINTABLE:Jos=C3=\n=A9\n",
    "N:Ruiz;Ana;;;\n",
    "item1.TEL;TYPE=CELL,pref;HOME:+34\n",
    "ADR:;;;;\n",
    "BDAY:--1399\n",
    "NOTE:\n",
    ":",
    ";",
    '"',
    "=\n",
    "\n ",
    "\t",
)
OLE = ole_file(
    {
        "__properties_version1.0": properties(32, sent=(0x0040, 0x0039, 133_540_000_000_000_000)),
        **wide(p0037="Subject", p1000="Text of it.", p0c1a="Ana", p007d="Date: x\nFrom: a@x\n"),
        "__recip_version1.0_#00000000": {"__properties_version1.0": properties(8), **wide(p3001="Ben")},
        "__attach_version1.0_#00000000": {**wide(p3707="a.md"), "__substg1.0_37010102": b"# A\n\ntext"},
    }
)


def _mail(draw: Draw) -> None:
    source = draw.pick(("/in/a.eml", "/in/a.mbox", "/in/a.mhtml", "/in/a"))
    data = (b"From x\n" if source.endswith("mbox") else b"") + draw.file(MAIL)
    for document in read_file(data, source=source):
        assert_sound(document)


def _outlook(draw: Draw) -> None:
    data = bytearray(OLE)
    for _ in range(draw.number(20)):
        data[draw.number(len(data) - 1)] = draw.number(255)
    for document in read_file(bytes(data), source="/in/a.msg"):
        assert_sound(document)


def _entries(draw: Draw) -> None:
    text = decode(draw.file(ENTRIES), "/in/a")
    read = draw.pick((read_calendar, read_contacts))
    assert_same_again(partial(read, text, "/in/a"))


TARGETS = {
    "mail": Target(_mail, tuple("".join(MAIL[first : first + 9]).encode() for first in (0, 4, 11))),
    "outlook": Target(_outlook),
    "entries": Target(_entries, ("".join(ENTRIES[:14]).encode(), "".join(ENTRIES[15:]).encode())),
}
