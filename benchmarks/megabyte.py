"""CPU seconds for reading a megabyte of ordinary content, by format, beside the same as plain text.

The content is this project's documentation over and over, cut into paragraphs; packed formats hold as much text, and
their files are smaller. Reading is measured, without splitting and embedding.
`python benchmarks/megabyte.py [FORMAT …]`
"""

from __future__ import annotations

import csv
import html
import io
import json
import sys
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from itertools import cycle, islice

from measuring import ROOT, cpu_seconds, machine, median_of

sys.path.insert(0, str(ROOT / "tests"))

REPEATS = 3
SIZE = 1_000_000


def main() -> None:
    """Prints a table: the format, the size of its file, CPU seconds, and how often those of plain text."""
    print(machine())
    print("| format | file, kB | characters read | CPU s | times plain text |\n|---|---|---|---|---|")
    texts = list(paragraphs())
    plain = 0.0
    for name in sys.argv[1:] or MAKERS:
        made = MAKERS[name](texts)
        data = made.encode() if isinstance(made, str) else made
        characters = read(name, data)
        (seconds,) = median_of(REPEATS, lambda name=name, data=data: timed(name, data))
        plain = plain or seconds
        print(
            f"| {name} | {len(data) / 1000:,.0f} | {characters:,} | {seconds:.2f} | {seconds / plain:.0f} |", flush=True
        )


def read(name: str, data: bytes) -> int:
    """The characters of all documents that are read in a file."""
    from answerable.sources.dispatch import read_file

    return sum(len(document.content) for document in read_file(data, source=f"/in/{name}"))


def timed(name: str, data: bytes) -> float:
    """CPU seconds of reading a file."""
    started = cpu_seconds()
    read(name, data)
    return cpu_seconds() - started


def paragraphs() -> Iterator[str]:
    """Paragraphs of prose, each on one line and different from the others, a megabyte of them."""
    pages = sorted(ROOT.glob("docs/*.md"))
    lines = [line.strip() for page in pages for line in page.read_text("utf-8").splitlines()]
    prose = [line for line in lines if len(line) > 60 and line[0].isalpha()]
    size = 0
    for number, line in enumerate(cycle(prose)):
        text = f"{number}: {line}"
        size += len(text) + 2
        if size > SIZE:
            return
        yield text


def batched(items: list[str], size: int) -> Iterator[list[str]]:
    """Lists of this many items in turn."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def text(texts: list[str]) -> str:
    return "\n\n".join(texts)


def sections(mark: str, texts: list[str]) -> str:
    """A heading before every ten paragraphs."""
    return "\n\n".join(mark.format(number) + "\n\n" + text(ten) for number, ten in enumerate(batched(texts, 10)))


def rst(texts: list[str]) -> str:
    return sections("Part {0}\n" + "=" * 12, [each.replace("*", "").replace("`", "") for each in texts])


def latex(texts: list[str]) -> str:
    plain = ["".join(character for character in each if character not in "\\{}$%&#_^~") for each in texts]
    return (
        "\\documentclass{article}\n\\begin{document}\n" + sections("\\section{{Part {0}}}", plain) + "\\end{document}"
    )


def page(texts: list[str]) -> str:
    body = "".join(f"<p>{html.escape(each)}</p>\n" for each in texts)
    return f"<html><head><title>Pages</title></head><body><main><h1>Pages</h1>{body}</main></body></html>"


def table(texts: list[str]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["Number", "Date", "Amount", "Note"])
    writer.writerows(rows(texts))
    return buffer.getvalue()


def rows(texts: list[str]) -> list[list[object]]:
    return [[number, f"2024-05-{number % 28 + 1:02}", number / 4, each] for number, each in enumerate(texts)]


def records(texts: list[str]) -> str:
    return json.dumps([{"number": number, "note": each} for number, each in enumerate(texts)])


def workbook(texts: list[str]) -> bytes:
    import made_office_files

    cells = [["Number", "Date", "Amount", "Note"], *rows(texts)]
    return made_office_files.saved(made_office_files.workbook({"Notes": cells}))


def opendocument(kind: str, texts: list[str]) -> bytes:
    import made_office_files

    if kind == "spreadsheet":
        cells = [["Number", "Note"], *([number, html.escape(each)] for number, each in enumerate(texts))]
        return made_office_files.opendocument(kind, made_office_files.table(cells))
    lines = [f"<text:p>{html.escape(each)}</text:p>" for each in texts]
    if kind == "text":
        return made_office_files.opendocument(kind, "".join(lines))
    frame = '<draw:page draw:name="s{0}"><draw:frame><draw:text-box>{1}</draw:text-box></draw:frame></draw:page>'
    slides = [frame.format(number, "".join(ten)) for number, ten in enumerate(batched(lines, 10))]
    return made_office_files.opendocument(kind, "".join(slides))


def slides(texts: list[str]) -> bytes:
    import made_office_files

    return made_office_files.presentation(
        [(f"Part {ten[0][:30]}", "\n".join(ten[1:]), ten[0]) for ten in batched(texts, 10)]
    )


def word(texts: list[str]) -> bytes:
    from docx import Document

    document = Document()
    for ten in batched(texts, 10):
        document.add_heading(ten[0][:40], 1)
        for each in ten:
            document.add_paragraph(each)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def rich_text(texts: list[str]) -> str:
    plain = ["".join(c if c.isascii() and c not in "\\{}" else "?" for c in each) for each in texts]
    return "{\\rtf1\\ansi " + "".join(f"{each}\\par\n" for each in plain) + "}"


def book(texts: list[str]) -> bytes:
    import made_files

    chapters = {f"c{number}.xhtml": page(ten) for number, ten in enumerate(batched(texts, 200))}
    return made_files.epub(chapters)


def pdf(texts: list[str]) -> bytes:
    from sources.conftest import build_pdf

    # What fits into the lines of a page and its encoding.
    lines = [line[start : start + 80] for line in texts for start in range(0, len(line), 80)]
    pages = ["\n".join(each.encode("ascii", "replace").decode() for each in forty) for forty in batched(lines, 40)]
    return build_pdf(pages)


def letter(texts: list[str], number: int = 0) -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = f"Ana <ana{number % 9}@example.org>", "Bea <bea@example.org>"
    message["Subject"], message["Message-ID"] = f"Part {number}", f"<{number}@example.org>"
    message["Date"] = f"{number % 28 + 1} May 2024 10:00:00 +0200"
    message.set_content(text(texts))
    return message.as_bytes()


def mailbox(texts: list[str]) -> bytes:
    letters = (letter(ten, number) for number, ten in enumerate(batched(texts, 10)))
    return b"".join(b"From ana@example.org Wed May  1 10:00:00 2024\n" + each + b"\n\n" for each in letters)


def calendar(texts: list[str]) -> str:
    event = "BEGIN:VEVENT\r\nUID:{0}\r\nDTSTART:202405{1:02}T100000Z\r\nSUMMARY:{2}\r\nEND:VEVENT\r\n"
    plain = (each.replace(",", "\\,").replace(";", "\\;") for each in texts)
    events = "".join(event.format(number, number % 28 + 1, each) for number, each in enumerate(plain))
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{events}END:VCALENDAR\r\n"


def contacts(texts: list[str]) -> str:
    card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Person {0}\r\nTEL:+34 600 {0:06}\r\nNOTE:{1}\r\nEND:VCARD\r\n"
    plain = (each.replace(",", "\\,").replace(";", "\\;") for each in texts)
    return "".join(card.format(number, each) for number, each in enumerate(plain))


def notebook(texts: list[str]) -> str:
    cells: list[dict[str, object]] = []
    for number, each in enumerate(texts):
        if number % 2:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": [each]})
        else:
            output = {"output_type": "stream", "name": "stdout", "text": [each]}
            code = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": ["print(note)"]}
            cells.append({**code, "outputs": [output]})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def time_of(number: int) -> str:
    return f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"


def subtitles(texts: list[str]) -> str:
    cues = (
        f"{number + 1}\n{time_of(number)},000 --> {time_of(number)},900\n{each}" for number, each in enumerate(texts)
    )
    return "\n\n".join(cues)


def outline(texts: list[str]) -> str:
    items = "".join(f'<outline text="{html.escape(each)}"/>\n' for each in texts)
    return f'<opml version="2.0"><head><title>Notes</title></head><body>{items}</body></opml>'


def bookmarks(texts: list[str]) -> str:
    items = "".join(f'<DT><A HREF="https://example.org/{hash(each)}">{html.escape(each)}</A>\n' for each in texts)
    return (
        f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n{items}</DL><p>\n"
    )


def whatsapp(texts: list[str]) -> str:
    times = (f"{number // 1440 % 28 + 1}/5/24, {time_of(number * 60)[:5]}" for number in range(len(texts)))
    return "".join(f"{time} - {sender}: {each}\n" for time, sender, each in zip(times, cycle(("Ana", "Bea")), texts))


def telegram(texts: list[str]) -> str:
    messages = [
        {
            "id": number,
            "type": "message",
            "date": f"2024-05-{number // 1440 % 28 + 1:02}T{number // 60 % 24:02}:{number % 60:02}:00",
            "date_unixtime": str(1_714_500_000 + number * 60),
            "from": "Ana" if number % 2 else "Bea",
            "from_id": f"user{number % 2}",
            "text": each,
            "text_entities": [{"type": "plain", "text": each}],
        }
        for number, each in enumerate(texts)
    ]
    return json.dumps({"name": "Choir", "type": "private_supergroup", "id": 1, "messages": messages})


def code(texts: list[str]) -> str:
    return "\n\n".join(
        f'def part_{number}(x):\n    """{each}"""\n    return x + {number}' for number, each in enumerate(texts)
    )


MAKERS: dict[str, Callable[[list[str]], str | bytes]] = {
    "a.txt": text,
    "a.md": lambda texts: sections("## Part {0}", texts),
    "a.html": page,
    "a.rst": rst,
    "a.org": lambda texts: sections("* Part {0}", texts),
    "a.adoc": lambda texts: sections("== Part {0}", texts),
    "a.tex": latex,
    "a.ipynb": notebook,
    "a.py": code,
    "a.csv": table,
    "a.json": records,
    "a.xlsx": workbook,
    "a.ods": lambda texts: opendocument("spreadsheet", texts),
    "a.docx": word,
    "a.odt": lambda texts: opendocument("text", texts),
    "a.rtf": rich_text,
    "a.pptx": slides,
    "a.odp": lambda texts: opendocument("presentation", texts),
    "a.epub": book,
    "a.pdf": pdf,
    "a.eml": letter,
    "a.mbox": mailbox,
    "a.ics": calendar,
    "a.vcf": contacts,
    "a.srt": subtitles,
    "a.opml": outline,
    "bookmarks.html": bookmarks,
    "WhatsApp Chat with Choir.txt": whatsapp,
    "result.json": telegram,
}


if __name__ == "__main__":
    main()
