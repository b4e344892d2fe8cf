"""Calendars and contacts: each entry a record as people read it, cited by its lines."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import pytest

import answerable
from answerable.datatypes import DocumentType, PartKind
from answerable.errors import EmptySource
from answerable.sources.dispatch import read_bytes
from answerable.tables.find import find_tables
from answerable.tables.recurrence import recurrence, times_of
from answerable.tables.table import Origin

CALENDAR = (
    "BEGIN:VCALENDAR\r\nX-WR-CALNAME:Club\r\nBEGIN:VEVENT\r\nSUMMARY:Dentist\\, ag\r\n ain\r\n"
    "DTSTART;TZID=Europe/Madrid:20240305T101500\r\nDURATION:PT1H30M\r\nRRULE:FREQ=MONTHLY;BYDAY=2TU\r\n"
    'LOCATION;ALTREP="http://a:1":Calle\\nMayor\r\nATTENDEE;CN="Ana, Paz";PARTSTAT=DECLINED:mailto:a@x.org\r\n'
    "DESCRIPTION:Bring the\r\n  card\\nStart: early\r\nBEGIN:VALARM\r\nDESCRIPTION:Alarm\r\nEND:VALARM\r\n"
    "END:VEVENT\r\n"
    "BEGIN:VTODO\r\nSUMMARY:Pay the dentist\r\nDUE;VALUE=DATE:20240401\r\nEND:VTODO\r\n"
    "BEGIN:VEVENT\r\nSUMMARY:Party\r\nDTSTART;VALUE=DATE:20240401\r\nDTEND;VALUE=DATE:20240403\r\nSTATUS:CANCELLED\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n"
)
CONTACTS = (
    "BEGIN:VCARD\nVERSION:3.0\nN:Ruiz;Ana;;;\nTEL;TYPE=CELL:+34 600 123 456\nitem1.TEL;HOME:912\n"
    "ORG:Clínica;Dental\nADR:;;Calle Mayor 3;Madrid;;28001;Spain\nBDAY:1985-03-05\nNOTE:llama\\; siempre\nEND:VCARD\n"
    "BEGIN:VCARD\nFN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Jos=C3=A9=20=\nPaz\nBDAY:--0305\nEND:VCARD\n"
)


def test_a_calendar() -> None:
    (document,) = read_bytes(CALENDAR.encode(), "/a/work.ics")
    assert (document.type, document.title) == (DocumentType.CALENDAR, "Club")
    texts = [document.content[part.start : part.end] for part in document.parts]
    assert texts == [
        "Event: Dentist, again\nStart: 2024-03-05 10:15\nEnd: 2024-03-05 11:45\n"
        "Repeats: every month on the second Tuesday\nPlace: Calle Mayor\nParticipants: Ana, Paz (declined)\n"
        "Description: Bring the card\nStart: early",
        "Task: Pay the dentist\nDue: 2024-04-01",
        "Event: Party\nStart: 2024-04-01\nEnd: 2024-04-02\nStatus: cancelled",
    ]
    assert document.content == "\n\n".join(texts)
    lines = CALENDAR.split("\r\n")
    for part, word in zip(document.parts, ("VEVENT", "VTODO", "VEVENT"), strict=True):
        first, last = (int(number.removeprefix("L")) for number in (part.place or "").split("-"))
        assert (lines[first - 1], lines[last - 1]) == (f"BEGIN:{word}", f"END:{word}")
        assert part.kind is PartKind.RECORD
    assert document.parts[0].time == datetime(2024, 3, 5, 10, 15)


def test_contacts() -> None:
    (document,) = read_bytes(CONTACTS.encode(), "/a/people.vcf")
    assert document.content == (
        "Name: Ana Ruiz\nPhone: +34 600 123 456 (cell), 912 (home)\nOrganisation: Clínica, Dental\n"
        "Address: Calle Mayor 3, Madrid, 28001, Spain\nBirthday: 1985-03-05\nNote: llama; siempre\n\n"
        "Name: José Paz\nBirthday: 5 March"
    )
    assert [part.place for part in document.parts] == ["L1-L10", "L11-L15"]


def test_they_are_tables() -> None:
    (table,) = find_tables(read_bytes(CALENDAR.encode(), "work.ics")[0])
    assert (table.origin, {row.values[0].text for row in table.rows}) == (Origin.CALENDAR, {"Dentist, again", "Party"})
    assert [row.values[1].time for row in table.rows[:2]] == [
        datetime(2024, 3, 5, 10, 15),
        datetime(2024, 3, 12, 10, 15),
    ]
    assert table.rows[0].values[4].text == "Bring the card\nStart: early"
    (table,) = find_tables(read_bytes(CONTACTS.encode(), "people.vcf")[0])
    assert (table.origin, [row.values[0].text for row in table.rows]) == (Origin.CONTACTS, ["Ana Ruiz", "José Paz"])


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "every 2 weeks on Monday"),
        ("FREQ=WEEKLY;WKST=MO", "every week on Tuesday"),
        ("FREQ=WEEKLY;BYDAY=MO,FR", "every week on Monday and Friday"),
        ("FREQ=DAILY;COUNT=10", "every day, 10 times"),
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "every week on weekdays"),
        ("FREQ=MONTHLY;BYDAY=FR;BYSETPOS=-1", "every month on the last Friday"),
        ("FREQ=MONTHLY;BYMONTHDAY=15,-1", "every month on day 15 and the last day"),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "every year on the last Sunday in March"),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "every month on the last weekday"),
        ("FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=1", "every month on the first of Saturday and Sunday"),
        ("FREQ=MONTHLY;BYMONTHDAY=28,-1;BYSETPOS=1", "every month on the first of day 28 and the last day"),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "every month on Friday if it is day 13"),
        ("FREQ=MONTHLY;BYDAY=FR,SA;BYSETPOS=1,2", "every month on Friday and Saturday, BYSETPOS=1,2"),
        ("FREQ=YEARLY;BYWEEKNO=20", "every year, BYWEEKNO=20"),
        ("nonsense", ""),
    ],
)  # fmt: skip
def test_recurrence(rule: str, text: str) -> None:
    assert recurrence(rule, day=1) == text


TUESDAY = datetime(2025, 1, 7, 19)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("every 2 weeks on Tuesday and Friday, until 2025-01-24", [7, 10, 21, 24]),
        ("every week on weekdays, 5 times", [7, 8, 9, 10, 13]),
        ("every day, 5 times, except 2025-01-08, 2025-01-10 19:00, 2025-01-11 18:00", [7, 9, 11]),
        ("every month on the second Tuesday, the last Friday and the third Monday, until 2025-01-31", [7, 14, 20, 31]),
        ("every month on day 15 and the last day, until 2025-01-31", [7, 15, 31]),
        ("every month on the last weekday in January and March, until 2025-02-28", [7, 31]),
        ("every year on the first of Saturday and Sunday in February, until 2025-02-28", [7, 1]),
        ("every month on Friday if it is day 13, until 2025-07-01", [7, 13]),
        ("every month on the first of day 28 and the last day, until 2025-02-28", [7, 28, 28]),
        ("every year on day 30 in February, until 2030-01-01", [7]),
    ],
)
def test_times_of_a_repeated_event(text: str, days: list[int]) -> None:
    times = times_of(text, TUESDAY, TUESDAY, 2_000)
    assert times
    assert ([day.day for day in times.days], times.is_all) == (days, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "every hour",
        "every year, BYWEEKNO=20",
        "every day, until 2025-99-99",
        "every week on the 9. Friday",
        "every month on the 9. of Friday and Sunday",
        "every day",
    ],
)
def test_times_that_are_not_known(text: str) -> None:
    assert times_of(text, TUESDAY, TUESDAY, 500) is None


SERIES = """BEGIN:VCALENDAR
BEGIN:VEVENT
UID:1
SUMMARY:Rowing
DTSTART;TZID=America/New_York:20240105T190000
DTEND;TZID=America/New_York:20240105T200000
RRULE:FREQ=WEEKLY;UNTIL=20240206T000000Z
EXDATE;TZID=America/New_York:20240112T190000,20240126T190000
RDATE;TZID=America/New_York:20240214T080000
END:VEVENT
BEGIN:VEVENT
UID:1
SUMMARY:Rowing
RECURRENCE-ID:20240120T000000Z
DTSTART;TZID=America/New_York:20240121T090000
END:VEVENT
BEGIN:VEVENT
UID:2
SUMMARY:Chess
DTSTART;VALUE=DATE:20240101
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR
"""


def test_a_series_with_exceptions_and_a_moved_event() -> None:
    (document,) = read_bytes(SERIES.encode(), "a.ics")
    assert document.content == (
        "Event: Rowing\nStart: 2024-01-05 19:00\nEnd: 2024-01-05 20:00\nRepeats: every week on Friday, "
        "until 2024-02-05, except 2024-01-12 19:00, 2024-01-26 19:00, 2024-01-19 19:00\nAlso on: 2024-02-14 08:00\n\n"
        "Event: Rowing\nStart: 2024-01-21 09:00\nInstead of: 2024-01-19 19:00\n\n"
        "Event: Chess\nStart: 2024-01-01\nRepeats: every day"
    )
    (table,) = find_tables(document)
    texts = [tuple(value.text for value in row.values[:3]) for row in table.rows]
    assert texts[:6] == [
        ("Rowing", "2024-01-05 19:00", "2024-01-05 20:00"),
        ("Rowing", "2024-02-02 19:00", "2024-02-02 20:00"),
        ("Rowing", "2024-02-14 08:00", "2024-02-14 09:00"),
        ("Rowing", "2024-01-21 09:00", ""),
        ("Chess", "2024-01-01", ""),
        ("Chess", "2024-01-02", ""),
    ]
    assert (table.uncounted, table.is_cut) == ({len(table.rows) - 1}, False)
    assert {(row.start, row.end) for row in table.rows[:3]} == {(document.parts[0].start, document.parts[0].end)}


def test_rules_made_to_take_long_are_read_in_time() -> None:
    event = "BEGIN:VEVENT\nSUMMARY:x\nDTSTART:00010101T000000\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30\nEND:VEVENT\n"
    (document,) = read_bytes((event * 2_000).encode(), "a.ics")
    started = time.process_time()
    (table,) = find_tables(document)
    assert len(table.uncounted) == len(table.rows)
    assert time.process_time() - started < 10


def test_a_day_that_never_comes_is_not_searched_for_until_the_last_year() -> None:
    event = "BEGIN:VEVENT\nSUMMARY:x\nDTSTART:20240305T101500\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30\nEND:VEVENT\n"
    (document,) = read_bytes((event * 100).encode(), "a.ics")
    started = time.process_time()
    (table,) = find_tables(document)
    assert len(table.rows) == 100
    assert time.process_time() - started < 10


def test_an_answer_cites_an_event(tmp_path: Path) -> None:
    path = tmp_path / "club.ics"
    path.write_bytes(CALENDAR.encode())
    with answerable.open(":memory:") as library:
        assert library.add(path).added == 1
        answer = library.ask("When is the dentist?")
    (citation, *_) = answer.citations
    assert "2024-03-05 10:15" in citation.quote
    assert str(citation.location) == "2024-03-05 10:15, L3-L16"
    assert citation.link == path.as_uri()


def test_what_has_no_entry_is_text() -> None:
    assert read_bytes(b"BEGIN:VCALENDAR\nEND:VCALENDAR\n", "a.ics")[0].type is DocumentType.TEXT
    assert read_bytes(b"BEGIN:VEVENT\nSUMMARY:Cut", "a.ics")[0].content == "Event: Cut"
    with pytest.raises(EmptySource):
        read_bytes(b" \n", "a.vcf")


def test_times_are_in_the_zone_of_the_calendar_and_others_name_theirs() -> None:
    event = "BEGIN:VEVENT\nSUMMARY:{}\nDTSTART{}\nEND:VEVENT\n"
    events = [
        event.format("Board", ":20250716T073000Z\nDTEND:20250716T081500Z"),
        event.format("Keys", ";TZID=Europe/Madrid:20250717T100000"),
        event.format("Call", ";TZID=Europe/Lisbon:20250718T160000\nDURATION:PT1H"),
        event.format("Rowing", ":20250719T230000Z\nRRULE:FREQ=WEEKLY;COUNT=2"),
    ]
    calendar = f"BEGIN:VCALENDAR\nX-WR-TIMEZONE:Europe/Madrid\n{''.join(events)}END:VCALENDAR\n"
    (document,) = read_bytes(calendar.encode(), "a.ics")
    assert document.content == (
        "Event: Board\nStart: 2025-07-16 09:30 Europe/Madrid\nEnd: 2025-07-16 10:15 Europe/Madrid\n\n"
        "Event: Keys\nStart: 2025-07-17 10:00\n\n"
        "Event: Call\nStart: 2025-07-18 16:00 Europe/Lisbon\nEnd: 2025-07-18 17:00 Europe/Lisbon\n\n"
        "Event: Rowing\nStart: 2025-07-19 23:00 UTC\nRepeats: every week on Saturday, 2 times"
    )
    assert document.parts[0].time == datetime(2025, 7, 16, 9, 30)
    (table,) = find_tables(document)
    assert table.rows[2].values[1].time == datetime(2025, 7, 18, 16, 0)


@pytest.mark.parametrize("zone", ["W. Europe Standard Time", "My Zone", "../x", "/etc", "é" * 300])
def test_times_in_utc_stay_where_the_zone_is_not_known(zone: str) -> None:
    event = f"BEGIN:VEVENT\nSUMMARY:Course\nDTSTART;TZID={zone}:20250203T180000\nEXDATE:20250210T170000Z\n"
    (document,) = read_bytes(f"{event}RRULE:FREQ=WEEKLY;UNTIL=20250430T210000Z\nEND:VEVENT\n".encode(), "a.ics")
    assert document.content.endswith("Repeats: every week on Monday, until 2025-04-30, except 2025-02-10 17:00 UTC")


def test_a_zone_that_the_calendar_describes_is_used() -> None:
    described = (
        "BEGIN:VTIMEZONE\nTZID:Kettle Island Time\nBEGIN:STANDARD\nDTSTART:16010101T020000\nTZOFFSETFROM:-0230\n"
        "TZOFFSETTO:-0330\nRRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11\nEND:STANDARD\nBEGIN:DAYLIGHT\n"
        "DTSTART:16010101T020000\nTZOFFSETFROM:-0330\nTZOFFSETTO:-0230\nRRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3\n"
        "END:DAYLIGHT\nEND:VTIMEZONE\n"
    )
    event = (
        "BEGIN:VEVENT\nSUMMARY:Watch\nDTSTART;TZID=Kettle Island Time:20260203T223000\n"
        "RRULE:FREQ=WEEKLY;UNTIL=20260304T020000Z\nEXDATE:20260218T020000Z\nEND:VEVENT\n"
    )
    until = "until 2026-03-03, except 2026-02-17 22:30"
    (document,) = read_bytes(f"BEGIN:VCALENDAR\n{described}{event}END:VCALENDAR\n".encode(), "w.ics")
    assert until in document.content
    # Rules that no zone has would take for ever.
    endless = described.replace("FREQ=YEARLY;BYDAY=1SU;BYMONTH=11", "FREQ=SECONDLY")
    (document,) = read_bytes(f"BEGIN:VCALENDAR\n{endless}{event}END:VCALENDAR\n".encode(), "w.ics")
    assert "02:00 UTC" in document.content


def test_without_a_zone_of_the_calendar_times_in_several_zones_name_them() -> None:
    event = "BEGIN:VEVENT\nSUMMARY:Call\nDTSTART;TZID={}:20250718T160000\nEND:VEVENT\n"
    zones = ("Europe/Madrid", "W. Europe Standard Time")
    (document,) = read_bytes("".join(map(event.format, zones)).encode(), "a.ics")
    assert [line[24:] for line in document.content.split("\n") if line.startswith("Start")] == list(zones)
