"""Messages and mailboxes: what is read, what is cited, what is left out, and everything hostile."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from made_files import zipped
from made_mail import letter, write_mailbox
from reading_here import read_file
from reading_processes import SLOW

import answerable
from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError
from answerable.sources.context import ReadContext, ReadLimits, Skipped
from answerable.sources.folders import walk
from answerable.sources.formats import recognise, without_ocr
from answerable.sources.process.reading_process import ReadingProcess


def only(data: bytes | str, source: str = "a.eml") -> Document:
    (document,) = read_file(data.encode() if isinstance(data, str) else data, source=source)
    return document


def own(document: Document) -> str:
    """What a message's sender wrote."""
    return document.content[document.parts[0].body :]


def left_out(skipped: Skipped) -> list[tuple[str, str]]:
    return [(each.source.rpartition("!/")[2], each.reason) for each in skipped.passed_over]


def test_a_message() -> None:
    document = only(bytes(letter("The boiler costs 90 euros.\n", id="1@x", reply_to=["0@x", "b@x"])), "/m/a.eml")
    assert document.content == (
        "From: Ana Ruiz <ana@example.org>\nTo: Ben <ben@example.org>\nDate: 2024-03-05 21:15\nSubject: Boiler\n\n"
        "The boiler costs 90 euros."
    )
    assert (document.type, document.title, document.source) == (DocumentType.MAIL, "Boiler", "/m/a.eml")
    (part,) = document.parts
    assert (part.time, part.sender, own(document)) == (
        datetime(2024, 3, 5, 21, 15),
        "Ana Ruiz",
        "The boiler costs 90 euros.",
    )
    assert document.metadata["thread"] == "0@x"
    assert document.metadata["to"] == ["Ben", "ben@example.org"]


@pytest.mark.parametrize(
    ("headers", "body", "text"),
    [
        ("Content-Type: text/plain; charset=us-ascii\n", "Cuesta 90 €".encode("cp1252"), "Cuesta 90 €"),
        ("Content-Type: text/plain; charset=iso-8859-1\n", "Málaga “ya”".encode("cp1252"), "Málaga “ya”"),
        ("Content-Type: text/plain; charset=iso-8859-1\n", "Málaga".encode(), "Málaga"),
        ("Content-Type: text/plain; charset=cp-850\n", "Málaga".encode("cp850"), "Málaga"),
        ("Content-Type: text/plain; charset=X-DOS_866\n", "Привет мир".encode("cp866"), "Привет мир"),
        ("Content-Type: text/plain; charset=none\n", "Málaga".encode("cp1252"), "Málaga"),
        ("Content-Type: text/plain; charset=iso-2022-jp\n", "日本語".encode("iso-2022-jp"), "日本語"),
        ("Content-Type: text/plain; charset=koi8-r\n", "Привет мир".encode("koi8-r"), "Привет мир"),
        ("Content-Transfer-Encoding: quoted-printable\nContent-Type: text/plain\n", b"M=C3=A1la=\nga", "Málaga"),
        ("Content-Transfer-Encoding: base64\nContent-Type: text/plain; charset=utf-8\n", b"TcOhbGFnYQ==", "Málaga"),
        ("Content-Transfer-Encoding: base64\n", b"TcOhbGFnYQ", "Málaga"),
        ("Content-Type: text/plain; format=flowed\n", b"one \ntwo\nthree\n> old \n> older", "one two\nthree"),
        ("Content-Type: text/html\n", b"<style>p{}</style><p>One<br>two<i style='display:none'>hid</i>", "One\ntwo"),
        ("Content-Type: text/html\n", b"<p>Yes.<p>On 5 Mar 2024 Ben wrote:<blockquote>No.</blockquote>", "Yes."),
        ("Content-Type: nonsense\n", b"Text.", "Text."),
        ("Content-Type: text/plain charset=utf-8\n", b"Text.", "Text."),
    ],
)  # fmt: skip
def test_texts_of_every_encoding(headers: str, body: bytes, text: str) -> None:
    assert own(only(f"From: a@x.org\nSubject: s\n{headers}\n".encode() + body)) == text


@pytest.mark.parametrize(
    ("header", "sender"),
    [
        ("From: =?utf-8?B?TsO6w7Fleg==?= <a@x.org>", "Núñez"),
        ("From: =?iso-8859-1?Q?N=FA=F1ez=2C?= =?iso-8859-1?Q?_Ana?= <a@x.org>", "Núñez, Ana"),
        ('From: "Núñez, Ana" <a@x.org>', "Núñez, Ana"),
        ("From: a@x.org (Ana N.)", "Ana N."),
        ("From: a@x.org", "a@x.org"),
        ("From: 'a@x.org' <a@x.org>", "a@x.org"),
        ("From: =?bogus?Q?Ana?= <a@x.org>", "Ana"),
        ("From:\n  Ana\n <a@x.org>", "Ana"),
        ("Sender: Ana <a@x.org>", "Ana"),
        ("From: \x1b[31mAna\x07 <a@x.org>", "Ana"),
    ],
)
def test_senders(header: str, sender: str) -> None:
    (part,) = only(f"{header}\nSubject: s\n\nText.").parts
    assert part.sender == sender
    assert only(f"{header}\nSubject: s\n\nText.".encode("cp1252")).parts[0].sender == sender


@pytest.mark.parametrize(
    ("header", "at"),
    [
        ("Date: Tue, 5 Mar 2024 23:30:00 -0800 (PST)", datetime(2024, 3, 5, 23, 30)),
        ("Date: 5 Mar 24 23:30 GMT", datetime(2024, 3, 5, 23, 30)),
        ("Date: soon\nReceived: by x; Wed, 6 Mar 2024 08:30:00 +0100", datetime(2024, 3, 6, 8, 30)),
        ("Date: Tue, 99 Mar 2024 99:30:00", None),
        ("X: y", None),
    ],
)
def test_times(header: str, at: datetime | None) -> None:
    assert only(f"From: a@x.org\n{header}\n\nText.").parts[0].time == at


def test_the_text_is_that_of_the_kind_that_says_more() -> None:
    html = f"<p>{'The boiler costs 90 euros, and more. ' * 20}</p>"
    assert own(only(bytes(letter("Can't be shown.", html=html)))).startswith("The boiler costs")
    assert (
        own(only(bytes(letter("The boiler costs 90 euros.", html="<p>The boiler.</p>"))))
        == "The boiler costs 90 euros."
    )
    assert only(bytes(letter(html="<table><tr><th>a<th>b<tr><td>1<td>2</table>"))).content.endswith("| 1 | 2 |")


def test_attachments_are_documents_of_their_own() -> None:
    inner = letter("Inner text.", subject="Old", attached=[("inner.md", "# In\n\nDeep text.")])
    message = letter(
        "See the plan.",
        attached=[
            ("plan.txt", "The plan is to paint."),
            ("plan.txt", "Another plan is to clean."),
            ("../../up!/x.md", b"# Up"),
            ("photo.jpg", b"\xff\xd8\xff\0"),
            ("blank.txt", b" "),
            ("all.zip", zipped({"a.txt": "Text."})),
            ("bad.pdf", b"%PDF-1.4 broken"),
        ],
    )
    message.add_attachment(inner)
    skipped = Skipped()
    documents = read_file(bytes(message), ReadContext(skipped=skipped), "/m/a.eml")
    assert [(each.source, each.metadata.get("message")) for each in documents] == [
        ("/m/a.eml", None),
        ("/m/a.eml!/plan.txt", "/m/a.eml"),
        ("/m/a.eml!/plan (2).txt", "/m/a.eml"),
        ("/m/a.eml!/x.md", "/m/a.eml"),
        ("/m/a.eml!/Old.eml", "/m/a.eml"),
        ("/m/a.eml!/Old.eml!/inner.md", "/m/a.eml!/Old.eml"),
    ]
    assert sorted(left_out(skipped)) == [
        ("all.zip", "archive in a message"),
        ("blank.txt", "empty"),
        ("photo.jpg", without_ocr()),
    ]
    assert [str(error).partition(" ")[0] for error in skipped.errors] == ["/m/a.eml!/bad.pdf"]
    assert documents[0].metadata["attachments"][:2] == ["plan.txt", "plan.txt"]


def test_messages_without_text() -> None:
    assert own(only("From: a@x.org\nSubject: The meeting is on Friday\n\n")) == "The meeting is on Friday"
    with pytest.raises(EmptySource, match="without text and attachments"):
        only("From: a@x.org\n\n\n")
    with pytest.raises(EncryptedSource, match="save it decrypted"):
        only("From: a@x.org\nSubject: s\n\n-----BEGIN PGP MESSAGE-----\n\nhQ")


def test_files_of_mail_programs_are_recognised(tmp_path: Path) -> None:
    data = bytes(letter("Text.", id="1@x"))
    assert recognise(data, "1700000000.M1P2.host,S=9:2,S").name == "mail"
    assert recognise(b"From - Tue Mar 05 21:15:00 2024\n" + data, "Inbox").name == "mbox"
    assert recognise(b"From: me\nThe boiler: repaired\n", "note").name == "text"
    assert recognise(b"From here on 10:15\nit rains", "note").name == "text"
    apple = f"{len(data)}\n".encode() + data + b'<?xml version="1.0"?><plist><dict/></plist>'
    assert own(only(apple, "1.emlx")) == "Text."
    for folder in ("cur", "new", "tmp", ".Sent/cur", ".Sent/new", ".Sent/tmp", ".git"):
        (tmp_path / "Mail" / folder).mkdir(parents=True)
        (tmp_path / "Mail" / folder / "1.M1.host:2,S").write_bytes(data)
    (tmp_path / "Mail" / "dovecot-uidlist").write_text("1")
    (tmp_path / "Inbox.msf").write_text("// <!-- <mdb:mork:z v=1.4/> -->")
    found = [path.relative_to(tmp_path).parts[1:-1] for path in walk(tmp_path)]
    assert found == [(".Sent", "cur"), (".Sent", "new"), ("cur",), ("new",)]


def thread() -> list[tuple[str, list[str], str]]:
    return [
        ("1@x", [], "The boiler costs 90."),
        ("2@x", ["1@x"], "Good."),
        ("3@x", ["2@x"], "From here on it costs 80."),
    ]


def test_a_mailbox(tmp_path: Path) -> None:
    messages = [letter(text, id=own_id, reply_to=before) for own_id, before, text in thread()]
    messages += [letter("No id."), letter("Other text.", id="1@x"), letter("No id.")]
    messages[1].add_attachment("Plan text.", filename="plan.txt")
    box = write_mailbox(tmp_path / "Inbox", messages)
    skipped = Skipped()
    documents = read_file(box, ReadContext(skipped=skipped))
    names = [each.source.removeprefix(f"{box.as_posix()}!/") for each in documents]
    assert names[:4] == ["1@x", "2@x", "2@x!/plan.txt", "3@x"]
    assert (len(names[4]), names[5:]) == (16, ["1@x (2)"])
    assert [each.metadata["thread"] for each in documents[:4]] == ["1@x"] * 4
    assert documents[2].metadata["message"] == documents[1].source
    assert own(documents[3]) == "From here on it costs 80."
    assert [reason for _, reason in left_out(skipped)] == ["already read under another name"]
    with ReadingProcess() as process:
        there = Skipped()
        assert process.read(box, box.as_posix(), ReadContext(skipped=there)) == documents
        assert there.counts == skipped.counts
    (zip_file := tmp_path / "export.zip").write_bytes(zipped({"Mail/all.mbox": box.read_bytes()}))
    assert [each.content for each in read_file(zip_file)] == [each.content for each in documents]


@pytest.mark.parametrize(
    "line",
    [
        "From ",
        "From -",
        "From - Tue Mar 05 21:15:00 2024",
        "From ana@x.org",
        "From ana at x.org  Tue Mar  5 21:15:00 2024",
        "From ana@x.org Tue, 5 Mar 2024 21:15:00 +0000",
        "From 17@xxx Tue Mar 05 21:15:00 +0000 2024",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n"])
def test_messages_of_a_mailbox_without_empty_lines_between_them(line: str, end: str) -> None:
    texts = ["The cup is red.", "From 10:15 on it rains.\nNote: 3 cups", "From Ana, 2024:\nSubject: 10:15"]
    box = "".join(f"{line}\nX-Labels: a,\n b\nFrom: Ana <a@x.org>\n\n{text}\n{end}" for text in texts)
    documents = read_file(box.replace("\n", end[-2:] if "\r" in end else "\n").encode(), source="inbox.mbox")
    assert [own(each) for each in documents] == texts
    assert [each.title for each in documents] == [
        "The cup is red.",
        "From 10:15 on it rains. Note: 3 cups",
        "From Ana, 2024: Subject: 10:15",
    ]
    at = datetime(2024, 3, 5, 21, 15) if "Mar" in line else None
    assert {each.parts[0].time for each in documents} == {at}


def test_a_mailbox_follows_what_is_deleted_and_added(tmp_path: Path) -> None:
    box = write_mailbox(tmp_path / "inbox.mbox", [letter(text, id=own_id) for own_id, _, text in thread()])
    with answerable.open(tmp_path / "library") as library:
        assert library.add(box).added == 3
        write_mailbox(
            box, [letter(text, id=f"{own_id}") for own_id, _, text in thread()[1:]] + [letter("New.", id="4@x")]
        )
        report = library.sync().total
        assert (report.added, report.removed, report.unchanged) == (1, 1, 2)


def test_of_a_mailbox_only_what_is_over_its_limits_is_left_out(tmp_path: Path) -> None:
    letters = [letter("One.", id="1@x", attached=[("photo.jpg", b"\xff\xd8\xff\0")])]
    letters += [letter("Two.", id="2@x", attached=[("slow.md", SLOW[:800_000]), ("plan.txt", "Plan.")])]
    letters += [letter("Three.", id="3@x")]
    box = write_mailbox(tmp_path / "inbox.mbox", letters)
    skipped, limits = Skipped(), ReadLimits(least_seconds=0.5, seconds_per_byte=1e-7)
    with ReadingProcess() as process:
        found = process.read(box, "inbox.mbox", ReadContext(limits, skipped=skipped))
    assert [each.source for each in found] == [f"inbox.mbox!/{name}" for name in ("1@x", "2@x", "2@x!/plan.txt", "3@x")]
    assert [str(error).partition(" ")[0] for error in skipped.errors] == ["inbox.mbox!/2@x!/slow.md"]
    assert left_out(skipped) == [("photo.jpg", without_ocr())]


def nested(depth: int) -> bytes:
    head = b"From: a@x.org\nSubject: s\n"
    return (head + b"Content-Type: message/rfc822\n\n") * depth + head + b"\nDeep."


def multiparts(count: int, boundary: str = "b{}") -> bytes:
    opened = (
        f'Content-Type: multipart/mixed; boundary="{boundary.format(n)}"\n\n--{boundary.format(n)}\n'
        for n in range(count)
    )
    return ("From: a@x.org\n" + "".join(opened) + "\nText.\n" + "x\n" * 30_000).encode()


HOSTILE = {
    "parts": b'From: a@x.org\nContent-Type: multipart/mixed; boundary="b"\n\n' + b"--b\n\nx\n" * 200_000,
    "messages in messages": nested(50_000),
    "some messages in messages": nested(400),
    "multiparts": multiparts(5_000),
    "some multiparts": multiparts(90),
    "people": b"From: a@x.org\nTo: " + b"Ana <a@x.org>, " * 70_000 + b"\n\nText.",
    "quotes": b'From: "' + b'"\\' * 300_000 + b"\n\nText.",
    "comments": b"From: a@x.org" + b"(" * 500_000 + b"\n\nText.",
    "words": b"From: a@x.org\nSubject: " + b"=?utf-8?Q?=C3=A1?= " * 50_000 + b"\n\nText.",
    "a type": b"From: a@x.org\nContent-Type: text/plain" + b"; a=b" * 200_000 + b"\n\nText.",
    "comments of a type": b"From: a@x.org\nContent-Type: " + b"(" * 500_000 + b"\n\nText.",
    "headers": b"From: a@x.org\n" + b"X: y\n" * 200_000 + b"\nText.",
    "a folded header": b"From: a@x.org\nSubject: x" + b"\n x" * 300_000 + b"\n\nText.",
    "references": b"From: a@x.org\nReferences: " + b"<a@x> " * 150_000 + b"\n\nText.",
    "a name of a file": b"From: a@x.org\nContent-Disposition: attachment; filename*0=" + b"a" * 500_000 + b"\n\nText.",
    "markup": b"From: a@x.org\nContent-Type: text/html\n\n" + b"<div>" * 200_000 + b"Text.",
    "quotations": b"From: a@x.org\n\n" + b">" * 1_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_made_to_take_long(name: str) -> None:
    started = time.process_time()
    for source in ("a.eml", "a.mbox"):
        data = HOSTILE[name] if source == "a.eml" else b"From a Tue Mar  5 21:15:00 2024\n" + HOSTILE[name]
        try:
            for document in read_file(data, source=source):
                assert len(document.content) <= len(data) + 100
        except SourceError as error:
            assert len(str(error)) < 500
    assert time.process_time() - started < 8


def test_bombs_are_refused() -> None:
    for name in ("parts", "multiparts", "messages in messages"):
        with pytest.raises(DamagedSource, match=r"too many parts for a message: leave it out"):
            read_file(HOSTILE[name], source="a.eml")
    with pytest.raises(DamagedSource, match="doesn't begin as a mailbox"):
        read_file(b"Text.", source="a.mbox")


def ask(messages: Sequence[object], tmp_path: Path, question: str) -> answerable.Answer:
    box = write_mailbox(tmp_path / "Inbox", messages)  # type: ignore[arg-type]
    with answerable.open(":memory:") as library:
        assert library.add(box).failures == []
        return library.ask(question)


def test_an_answer_cites_the_message(tmp_path: Path) -> None:
    text = (
        "We repaired the boiler in the hall on Friday, it cost 90 euros.\n\n-- \nAna Ruiz\nPlumber, 12 Hill Street\n\n"
        "On Mon, 4 Mar 2024 at 10:00, Ben <ben@example.org> wrote:\n> The repair of the boiler costs 400 euros.\n"
    )
    answer = ask([letter(text, id="1@x")], tmp_path, "How much did the repair of the boiler cost?")
    (citation, *_) = answer.citations
    assert "90 euros" in citation.quote
    assert (str(citation.location), citation.title) == ("2024-03-05 21:15, Ana Ruiz", "Boiler")
    assert (citation.source, citation.link) == (f"{tmp_path}/Inbox!/1@x", (tmp_path / "Inbox").as_uri())
    assert "400" not in answer.text


def test_the_reply_is_quoted_in_place_of_the_question_above_it(tmp_path: Path) -> None:
    text = "Ben wrote:\n> Is there a cellar?\n\nNo, only a bike shed.\n\n> When can I move in?\n\nFrom 1 May."
    answer = ask([letter(text, id="1@x")], tmp_path, "Is there a cellar?")
    assert answer.text.count("Ana Ruiz (2024-03-05 21:15): “No, only a bike shed.”") == 1
    assert "cellar" not in answer.text


def test_people_and_times_narrow_to_mail(tmp_path: Path) -> None:
    messages = [
        letter("The boiler costs 90 euros.", id="1@x"),
        letter(
            "The boiler costs 70 euros.", id="2@x", sender="Ben Paz <ben@x.org>", date="Fri, 05 Apr 2024 10:00:00 +0200"
        ),
    ]
    answer = ask(messages, tmp_path, "What did Ben say the boiler costs?")
    assert answer.narrowing
    assert (answer.narrowing.senders, answer.narrowing.applied) == (("Ben Paz",), True)
    assert [each.location.senders for each in answer.citations] == [("Ben Paz",)]


def test_both_messages_of_a_thread_are_quoted_with_their_times(tmp_path: Path) -> None:
    messages = [
        letter("The meeting of the board is on Friday at 18:00 in the hall.", id="1@x", subject="Board"),
        letter(
            "Change of plan: the meeting of the board has been moved to Monday at 19:30.",
            id="2@x", reply_to=["1@x"], subject="Re: Board", date="Wed, 06 Mar 2024 09:00:00 +0100",
        ),
    ]  # fmt: skip
    answer = ask(messages, tmp_path, "When is the meeting of the board?")
    assert sorted(each.location.times[0].day for each in answer.citations if each.location.times) == [5, 6]
