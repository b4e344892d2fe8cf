"""WhatsApp exports: small ones in many languages, generated ones, and the collected cases of other parsers."""

from __future__ import annotations

import importlib.util
import json
import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from development_data import DATA
from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples

from answerable.datatypes import DocumentType, PartKind, document_id
from answerable.errors import EmptySource
from answerable.sources.whatsapp.read import DateOrder, Message, MessageKind, is_chat, parse_chat, read_chat

LRM = "\u200e"
CHATS = DATA / "whatsapp"


def only(content: str) -> Message:
    messages = parse_chat(content)
    assert len(messages) == 1, messages
    return messages[0]


def rows(content: str) -> list[tuple[str | None, str]]:
    return [(message.sender, message.text) for message in parse_chat(content)]


EVENING = datetime(2018, 6, 13, 21, 25)
QUARTER_PAST = datetime(2018, 6, 13, 21, 25, 15)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("13/06/18, 21:25 - ", EVENING),
        ("13/06/18 21:25 - ", EVENING),
        ("13/6/2018, 9:25 PM - ", EVENING),
        ("6/13/18, 9:25\u202fPM - ", EVENING),
        ("[6/13/18, 9:25:15\u202fPM] ", QUARTER_PAST),
        ("13/06/2018, 9:25 p.\u00a0m. - ", EVENING),
        ("13/6/18 9:25 p. m. - ", EVENING),
        ("[13/06/2018, 21:25:15] ", QUARTER_PAST),
        (f"{LRM}[13.06.18, 21:25:15] ", QUARTER_PAST),
        ("\ufeff13/06/18, 21:25 - ", EVENING),
        ("13.06.18, 21:25 - ", EVENING),
        ("13.06.18 um 21:25 Uhr - ", EVENING),
        ("13-06-18 21:25 - ", EVENING),
        ("13/06/18 21.25 - ", EVENING),
        ("13.6.2018 klo 21.25 - ", EVENING),
        ("13.06.2018 kl. 21.25 - ", EVENING),
        ("13/06/2018 à 21:25 - ", EVENING),
        ("13/06/2018 às 21:25 - ", EVENING),
        ("13/06/18 à(s) 21:25 - ", EVENING),
        ("13/06/2018 alle ore 21:25 - ", EVENING),
        ("2018-06-13 21 h 25 - ", EVENING),
        ("2018-06-13 21 h 25 min 15 s - ", QUARTER_PAST),
        ("2018-06-13, 9:25 p.m. - ", EVENING),
        ("2018/06/13, 9:25 pm - ", EVENING),
        ("[2018-06-13 21:25:15] ", QUARTER_PAST),
        ("13.06.18 г., 21:25 ч. - ", EVENING),
        ("13. 6. 2018. 21:25 - ", EVENING),
        ("13. 06. 2018. u 21:25 - ", EVENING),
        ("2018. 06. 13. du. 9:25 - ", EVENING),
        ("2018. 6. 13. 오후 9:25 - ", EVENING),
        ("18. 6. 13. 오후 9:25 - ", EVENING),
        ("2018년 6월 13일 오후 9:25 - ", EVENING),
        ("[2018/6/13 下午9:25:15] ", QUARTER_PAST),
        ("2018年6月13日 下午9:25 - ", EVENING),
        ("2018年6月13日下午9:25 - ", EVENING),
        ("2018/06/13 午後9:25 - ", EVENING),
        ("[下午9:25, 2018/6/13] ", EVENING),
        ("[21:25, 13/6/2018] ", EVENING),
        ("[9:25 PM, 6/13/2018] ", EVENING),
        ("21:25, 13/06/2018 - ", EVENING),
        ("13/06/2018 9:25 CH - ", EVENING),
        ("13.06.2018 ÖS 9:25 - ", EVENING),
        ("13.6.2018 9:25 ÖS - ", EVENING),
        ("13/6/18, 9:25 μ.μ. - ", EVENING),
        ("13/6/2018، 9:25 م - ", EVENING),
        ("١٣\u200f/٦\u200f/٢٠١٨، ٩:٢٥ م - ", EVENING),
        ("\u200f[١٣/٠٦/٢٠١٨, ٩:٢٥:١٥ م] ", QUARTER_PAST),
        ("۱۳۹۷/۳/۲۳،\u200f ۲۱:۲۵ - ", EVENING),
        ("13/6/2561 21:25 - ", EVENING),
        ("१३/०६/२०१८, ९:२५ अपराह्न - ", EVENING),
        ("১৩/৬/১৮, ৯:২৫ PM - ", EVENING),
        ("13/06/18, 21:25 – ", EVENING),
        ("13/06/18 21:25:15: ", QUARTER_PAST),
        ("6/13/18, 9:25:15 PM: ", QUARTER_PAST),
        ("[13/06/18, 9:25:15 PM] - ", QUARTER_PAST),
    ],
)
def test_every_layout_of_a_header(header: str, expected: datetime) -> None:
    message = only(f"{header}Ana: hola: sí")
    assert (message.time, message.sender, message.text) == (expected, "Ana", "hola: sí")
    assert is_chat(f"{header}Ana: hola: sí")


def test_islamic_year_is_converted_within_a_day() -> None:
    found = only("1/9/1445، 9:25 م - خالد: مرحبا").time
    assert abs(found - datetime(2024, 3, 11, 21, 25)) <= timedelta(days=1)


@pytest.mark.parametrize(
    ("content", "months"),
    [
        ("3/6/18, 10:00 - a: x", [6]),
        ("4/2/18, 10:00 - a: x\n13/3/18, 10:00 - a: x", [2, 3]),
        ("4/2/18, 10:00 - a: x\n5/13/18, 10:00 - a: x", [4, 5]),
        ("5/6/24, 10:00 - a: x\n6/5/24, 10:00 - a: x\n6/7/24, 10:00 - a: x", [5, 6, 6]),
        ("8/3/17, 10:00 - a: x\n10/5/17, 10:00 - a: x\n6/9/17, 10:00 - a: x", [3, 5, 9]),
        ("18/06/13, 10:00 - a: x\n18/07/02, 10:00 - a: x", [6, 7]),
    ],
    ids=[
        "undecidable",
        "day above 12",
        "month first",
        "time runs forward",
        "time runs forward, day first",
        "year first",
    ],
)
def test_order_of_day_and_month_follows_from_the_whole_file(content: str, months: list[int]) -> None:
    assert [message.time.month for message in parse_chat(content)] == months


def test_given_date_order_wins() -> None:
    line = "3/6/18, 10:00 - a: x"
    assert parse_chat(line, DateOrder.MDY)[0].time.month == 3
    assert parse_chat(line, DateOrder.DMY)[0].time.month == 6


def test_noon_and_midnight() -> None:
    content = "1/13/24, 12:00 PM - A: noon\n1/14/24, 12:05 AM - A: midnight\n1/14/24, 00:07 AM - A: odd"
    assert [(m.time.hour, m.time.minute) for m in parse_chat(content)] == [(12, 0), (0, 5), (0, 7)]


def test_messages_of_several_lines() -> None:
    content = "12/10/23, 21:15 - Ana: uno\n\ndos\n12/10/23, 21:16 - Ben: tres\n\n\n12/10/23, 21:17 - Ben: "
    assert rows(content) == [("Ana", "uno\n\ndos"), ("Ben", "tres"), ("Ben", "")]
    assert [message.line for message in parse_chat(content)] == [1, 4, 7]


def test_preamble_and_windows_line_ends() -> None:
    content = "exported by a tool\r\n12/31/23, 8:16 PM - Rosa: hi\r\nthere\r\n12/31/23, 8:17 PM - May: yo\r\n"
    messages = parse_chat(content)
    assert [(m.sender, m.text, content[m.body : m.end]) for m in messages] == [
        ("Rosa", "hi\nthere", "hi\r\nthere"),
        ("May", "yo", "yo"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "2016-04-29 10:30:00",
        "31/02/2024, 10:00 - no: header",
        "12/31.23, 8:03 PM - not: header",
        "12/10/23, 25:00 - not: header",
        "12/09/2023, 20:00 - Pepe se fue",
        "12/31/22, 8:03 PM - Luis: quoted from an older chat",
        "[20:15, 11/10/2023] Luis: copied",
        "[15/01/2030, 10:00] cita: dentista",
    ],
)
def test_lines_inside_a_message_that_look_like_a_header(line: str) -> None:
    content = f"[12/10/2023, 21:15:00] Ana: mira\n{line}\nfin\n[12/10/2023, 21:16:00] Ben: ok"
    assert rows(content) == [("Ana", f"mira\n{line}\nfin"), ("Ben", "ok")]


def test_layouts_may_be_mixed_where_time_allows() -> None:
    content = "[12/10/2023, 21:15] Juan: a\n[12/10/2023, 21:16] Ana: b\n12/10/23, 21:17 - Juan: c"
    assert [message.time for message in parse_chat(content)] == [datetime(2023, 10, 12, 21, m) for m in (15, 16, 17)]


@pytest.mark.parametrize(
    ("text", "sender"),
    [
        ('Ana changed the subject to "Foo: bar"', None),
        ('Ana cambió el asunto de "X" a "Y: z"', None),
        ("Ana criou o grupo “Ceia: 2023”", None),
        ("Ana hat den Betreff zu „Foo: bar“ geändert", None),
        ("Your security code with Ana: Work changed. Tap to learn more.", None),
        ('+12 345 578 created group "Groupname"', None),
        ("Ana joined using this group's invite link https://chat.example.com/a", None),
        ('Juan "El Loco" Pérez: hola', 'Juan "El Loco" Pérez'),
        ("John 🤓: hi", "John 🤓"),
        ("\u202a+55\u00a011\u00a098765\u20114321\u202c: oi", "+55 11 98765\u20114321"),
        ("~\u202fAna: oi", "~ Ana"),
        ("Maman : salut", "Maman"),
        # A joiner makes one sign of several, and tells Persian words apart.
        ("👩\u200d💻 Ana: oi", "👩\u200d💻 Ana"),
        ("\u200f\u202bعلی\u200cرضا\u202c: سلام", "علی\u200cرضا"),
        ("\u2068Ana\u2069\u200d: oi", "Ana"),
    ],
)
def test_sender_or_notice(text: str, sender: str | None) -> None:
    message = only(f"12/10/2023, 21:15 - {text}")
    assert message.sender == sender
    assert (message.kind is MessageKind.SYSTEM) == (sender is None)


def test_senders_with_a_colon_show_by_repetition() -> None:
    texts = ["Work: Ana: one", "Work: Ana: two", "Work: Ben: three", "Work: Ben: four", "Eve: note: five"]
    content = "\n".join(f"12/10/2023, 21:1{i} - {text}" for i, text in enumerate(texts))
    assert [sender for sender, _ in rows(content)] == ["Work: Ana", "Work: Ana", "Work: Ben", "Work: Ben", "Eve"]


@pytest.mark.parametrize(
    ("text", "kind", "attachment"),
    [
        ("<Media omitted>", "media", None),
        ("<Multimedia omitido>", "media", None),
        ("<Mídia oculta>", "media", None),
        ("<Médias omis>", "media", None),
        ("<Pominięto multimedia>", "media", None),
        ("<Media tidak disertakan>", "media", None),
        ("<Медіа пропущено>", "media", None),
        ("<मीडिया के बिना>", "media", None),
        ("<মিডিয়া বাদ দেওয়া হয়েছে>", "media", None),
        ("<تم استبعاد الوسائط>", "media", None),
        ("<המדיה לא נכללה>", "media", None),
        ("<省略多媒体文件>", "media", None),
        ("<Media omitted>\na caption", "media", None),
        ("imagem ocultada", "media", None),
        ("Bild weggelassen", "media", None),
        ("obraz pominięty", "media", None),
        ("gambar tidak disertakan", "media", None),
        ("사진 생략됨", "media", None),
        ("IMG-20231231-WA0012.jpg (file attached)", "media", "IMG-20231231-WA0012.jpg"),
        (f"{LRM}PTT-20231231-WA0012.opus (dosya ekli)\npie", "media", "PTT-20231231-WA0012.opus"),
        ("IMG-20231231-WA0012.jpg (සොයා ගත්තා)", "media", "IMG-20231231-WA0012.jpg"),
        ("acta final.pdf (archivo adjunto)", "media", "acta final.pdf"),
        ("DOC-20220502-WA0006. (bestand bijgevoegd)", "media", "DOC-20220502-WA0006."),
        ("<attached: 00000042-PHOTO-2020-06-07-15-13-20.jpg>", "media", "00000042-PHOTO-2020-06-07-15-13-20.jpg"),
        (f"{LRM}<pièce jointe : a b.pdf>", "media", "a b.pdf"),
        (f"hola {LRM}<adjunto: 00000007-VIDEO-2024.mp4>", "media", "00000007-VIDEO-2024.mp4"),
        (f"2015-08-04-PHOTO-00004762.jpg <{LRM}attached>", "media", "2015-08-04-PHOTO-00004762.jpg"),
        (f"report.pdf • {LRM}3 pages {LRM}document omitted", "media", "report.pdf"),
        (f"mira {LRM}image omitted", "media", None),
        ("This message was deleted", "deleted", None),
        ("Se eliminó este mensaje.", "deleted", None),
        ("Esta mensagem foi apagada", "deleted", None),
        ("Du hast diese Nachricht gelöscht.", "deleted", None),
        ("Ta wiadomość została usunięta", "deleted", None),
        ("Pesan ini telah dihapus", "deleted", None),
        ("यह मैसेज डिलीट कर दिया गया है", "deleted", None),
        ("הודעה זו נמחקה", "deleted", None),
        ("This message was deleted by admin Ana", "deleted", None),
        ("I think this message was deleted by mistake?", "text", None),
        ("This message was deleted and then some", "text", None),
        ("👩\u200d💻.pdf (file attached)", "media", "👩\u200d💻.pdf"),
        ("image omitted lol", "text", None),
        ("<not a real placeholder>", "text", None),
        ("<Media>", "text", None),
        ("see the attached file tomorrow", "text", None),
        ("see report.pdf (the attached one)", "text", None),
        ("ubicación: https://maps.google.com/?q=1,2", "text", None),
        ("Missed voice call", "text", None),
    ],
)
def test_kinds_and_attachments(text: str, kind: str, attachment: str | None) -> None:
    message = only(f"12/10/2023, 21:15 - Ana: {text}")
    assert (message.kind.value, message.attachment, message.sender) == (kind, attachment, "Ana")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{LRM}Ana added Ben", "system"),
        (f"{LRM}Missed voice call", "system"),
        (f"{LRM}Videollamada perdida", "system"),
        (f"{LRM}Voice call, {LRM}3 min", "system"),
        ("Messages and calls are end-to-end encrypted. No one outside of this chat can read them.", "system"),
        ("Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.", "system"),
        ("Pesan dan panggilan terenkripsi secara end-to-end.", "system"),
        ("Повідомлення та дзвінки захищено наскрізним шифруванням.", "system"),
        ("Ana changed this group's icon", "system"),
        ("Ana here, left the keys", "text"),
        ("Are messages end-to-end encrypted?", "text"),
        (f"{LRM}POLL:\nWhere?\n{LRM}OPTION: Home ({LRM}2 votes)", "text"),
        (f"{LRM}Location: https://maps.google.com/?q=1", "text"),
        (f"{LRM}Live location shared", "text"),
        (f"{LRM}Waiting for this message. This may take a while.", "text"),
        (f"{LRM}Contact card omitted", "media"),
        (f"{LRM}You received a view once message. For added privacy, you can only open it on your phone.", "media"),
        (f"{LRM}You deleted this message.", "deleted"),
        ("hello @\u2068Luis\u2069 there", "text"),
    ],
)
def test_what_an_iphone_writes_under_a_name(text: str, kind: str) -> None:
    message = only(f"[12/10/2023, 21:15:03] Ana: {text}")
    assert message.kind.value == kind
    assert message.sender == (None if kind == "system" else "Ana")


@pytest.mark.parametrize(
    "mark",
    [
        "<This message was edited>",
        f"{LRM}<This message was edited>",
        "<Se editó este mensaje.>",
        "<Mensagem editada>",
        "<Diese Nachricht wurde bearbeitet>",
        "<Ce message a été modifié>",
        "<Dit bericht is bewerkt>",
        "<Сообщение изменено>",
        "<Bu mesaj düzenlendi>",
        "<Pesan ini diedit>",
        "<このメッセージは編集されました>",
        f"{LRM}<ข้อความนี้ถูกปรับ>",
    ],
)
def test_edit_marks_are_no_text(mark: str) -> None:
    message = only(f"12/10/2023, 21:15 - Ana: nos vemos\na las 5 {mark}")
    assert (message.text, message.edited, message.kind) == ("nos vemos\na las 5", True, MessageKind.TEXT)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "This is not a valid export",
        "# Notes\n\n2024-01-05 10:30 - Standup: discuss\n\nsome text\nmore\nmore\nmore\nmore\n",
        "# Changelog\n\n## 1.0 - 2024-01-05\n- faster\n",
        "[2024-01-05 10:30:00] production.ERROR: boom\n[2024-01-05 10:30:01] production.INFO: x\n",
        "2024/01/05 10:30:00 message: x\n2024/01/05 10:31:00 other: y\n",
        "2024-01-05 10:30:00,123 - root - INFO - msg\n",
        "2024-01-05 10:30:00 - INFO: msg\n",
        "- 12/31/23, 8:03 PM - Ana: hi",
    ],
)
def test_other_texts_are_no_chat(content: str) -> None:
    assert not is_chat(content)


def test_chats_are_recognised_with_a_preamble_and_with_long_messages() -> None:
    line = "12/31/23, 8:03 PM - Ana: hi"
    assert is_chat(line)
    assert is_chat(f"some banner\n\n{line}\nmore\n{line}")
    assert is_chat(line + "\nmore" * 1000)
    assert is_chat("12/31/23, 8:03 PM - Messages and calls are end-to-end encrypted.")


CHAT = f"""{LRM}[12/10/2023, 21:15:00] Familia: {LRM}Messages and calls are end-to-end encrypted.
[12/10/2023, 21:16:00] Ana: hola
mundo
[12/10/2023, 21:17:00] Ben: adiós
"""


def test_read_chat_gives_a_document_with_parts() -> None:
    source = "/data/WhatsApp Chat - Familia.zip!/_chat.txt"
    document = read_chat(CHAT, source)
    assert document.content == CHAT
    assert document.id == document_id(source, CHAT)
    assert (document.type, document.title) == (DocumentType.CHAT, "Familia")
    assert document.metadata == {
        "participants": ["Ana", "Ben"],
        "messages": 3,
        "first_day": "2023-10-12",
        "last_day": "2023-10-12",
    }
    assert [part.kind for part in document.parts] == [PartKind.NOTICE, PartKind.MESSAGE, PartKind.MESSAGE]
    notice, first, _ = document.parts
    assert notice.sender is None
    assert (first.sender, first.time) == ("Ana", datetime(2023, 10, 12, 21, 16))
    assert CHAT[first.body : first.end] == "hola\nmundo"


def test_read_chat_refuses_a_text_without_messages() -> None:
    with pytest.raises(EmptySource, match="no WhatsApp message"):
        read_chat("just a text", "a.txt")


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("WhatsApp Chat with Ana.txt", "Ana"),
        ("Chat de WhatsApp con Familia.txt", "Familia"),
        ("Conversa do WhatsApp com Tia Bia.txt", "Tia Bia"),
        ("/x/WhatsApp-Chat mit Oma (1).txt", "Oma"),
        ("Discussion WhatsApp avec Léa.txt", "Léa"),
        ("Чат WhatsApp с Иван.txt", "Иван"),
        ("Ali ile WhatsApp Sohbeti.txt", "Ali"),
        ("دردشة واتساب مع أحمد.txt", "أحمد"),
        ("WhatsApp_Chat_with_Ana.txt", "Ana"),
        ("/x/a.zip!/WhatsApp Chat with Bo.txt", "Bo"),
        ("notes_2023.txt", "notes_2023"),
        ("_chat.txt", "_chat"),
        ("", ""),
    ],
)
def test_title_is_the_name_of_the_chat(source: str, title: str) -> None:
    assert read_chat(CHAT, source).title == title


# Properties

LAYOUTS = [
    "{t:%d/%m/%Y, %H:%M} - ",
    "[{t:%d.%m.%y, %H:%M:%S}] ",
    "{t:%Y-%m-%d %H:%M} - ",
    "[{t:%m/%d/%Y, %I:%M:%S %p}] ",
]
words = st.text(alphabet=st.sampled_from("abcxyz ñéß你가лю🙂\"'-.,!?123"), min_size=1, max_size=40).map(str.strip)
bodies = st.lists(words.filter(lambda word: bool(word) and not word[0].isdigit()), min_size=1, max_size=3).map(
    "\n".join
)
conversations = st.lists(
    st.tuples(st.sampled_from(["Ana", "Ben 🙂", "+34 600 000 000"]), bodies), min_size=1, max_size=12
)


@given(conversations, st.sampled_from(LAYOUTS))
def test_what_was_written_is_read_back(conversation: list[tuple[str, str]], layout: str) -> None:
    # The 13th of January decides the order of day and month.
    times = [datetime(2024, 1, 13, 9, 0) + timedelta(hours=7 * i, minutes=i) for i in range(len(conversation))]
    headers = [layout.format(t=moment) for moment in times]
    content = "\n".join(f"{h}{sender}: {text}" for h, (sender, text) in zip(headers, conversation, strict=True))
    messages = parse_chat(content)
    assert [(m.sender, m.text, m.time) for m in messages] == [
        (sender, text, moment) for (sender, text), moment in zip(conversation, times, strict=True)
    ]
    for message, header in zip(messages, headers, strict=True):
        assert content[message.start : message.end].startswith(header)
        assert content[message.body : message.end] == message.text
        assert content.count("\n", 0, message.start) == message.line - 1


FRAGMENTS = [
    *(
        "12/31/23, 8:03 PM - ",
        "[13.06.18, 21:25:15] ",
        "13/13/13, 99:99 - ",
        "2024-01-05 10:30 ",
        "١٥/٣/٢٠٢٤، ٩:١٢ م - ",
    ),
    *("Ana: ", "Ben", ":", "\n", "\r\n", LRM, "\u202f", "\ufeff", '"', "hola", "<", ">", "x.pdf", " (file attached)"),
    *("<Media omitted>", "<attached: a.jpg>", "This message was deleted"),
]
odd_texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))


@examples(300)
@given(odd_texts)
def test_any_text_is_read_without_an_error(content: str) -> None:
    is_chat(content)
    position = 0
    for message in parse_chat(content):
        assert position <= message.start <= message.body <= message.end <= len(content)
        assert (message.sender is None) == (message.kind is MessageKind.SYSTEM)
        position = message.end


@pytest.mark.parametrize(
    "content",
    [
        " " * 1_000_000,
        "\u200e" * 1_000_000,
        "1" * 1_000_000,
        "12/" * 333_333,
        "12.30. " * 150_000,
        "[" * 1_000_000,
        "\n" * 1_000_000,
        "12/31/23, 8:03 PM - Ana: " + "<" * 1_000_000,
        "12/31/23, 8:03 PM - Ana: " + "a.b (" * 200_000,
        f"12/31/23, 8:03 PM - Ana: {LRM}" + "\n<a: b.c" * 120_000 + ">",
        f"12/31/23, 8:03 PM - Ana: {LRM}" + " " * 1_000_000 + ">",
        "12/31/23, 8:03 PM - " + "a:" * 500_000,
        "\n".join(
            f"12/12/12 {chr(97 + i // 676)}{chr(97 + i // 26 % 26)}{chr(97 + i % 26)} 12:12 - a: b"
            for i in range(17_000)
        ),
    ],
    ids=[
        "blanks",
        "marks",
        "digits",
        "dates",
        "times",
        "brackets",
        "lines",
        "angles",
        "files",
        "names",
        "edits",
        "colons",
        "words",
    ],
)
def test_a_megabyte_takes_no_quadratic_time(content: str) -> None:
    started = time.process_time()
    parse_chat(content)
    is_chat(content)
    assert time.process_time() - started < 10


# The cases collected from the tests of four other parsers


def scorer() -> Any:
    spec = importlib.util.spec_from_file_location("score_cases", CHATS / "score_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.quality
def test_all_cases_of_the_peers_are_read_as_they_expect() -> None:
    """75 of 75: there is no miss to explain, and none may come."""
    if not CHATS.is_dir():
        pytest.fail(f"this test scores against {CHATS}: fetch the shared data, or deselect it with -m 'not quality'")
    check = scorer().check
    cases = json.loads((CHATS / "cases_dev.json").read_text(encoding="utf-8"))["cases"]
    misses = {case["id"]: found for case in cases if (found := check(case, parsed(case)))}
    assert len(cases) == 75
    assert misses == {}


def parsed(case: dict[str, Any]) -> list[dict[str, Any]]:
    order = (case.get("options") or {}).get("date_order")
    messages = parse_chat(case["input"] or "", DateOrder(order) if order else None)
    return [
        {
            "timestamp": message.time.isoformat(),
            "sender": message.sender,
            "text": message.text,
            "kind": message.kind.value,
            "attachment": message.attachment,
            "edited": message.edited,
        }
        for message in messages
    ]
