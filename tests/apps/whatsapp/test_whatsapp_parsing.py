"""Exports → messages → windows, through the application's own functions."""

from __future__ import annotations

import importlib.util
import inspect
import json
from dataclasses import fields
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whatsapp_program import EXAMPLE_CHAT, ROOT, run

from rag.core import ChatMessage, Chunk, build_user_prompt, chunk_messages, parse_whatsapp_txt

DATA = ROOT.parent / "shared" / "data" / "whatsapp"

MIXED = """[12/10/2023, 21:15] Juan: ¿Salimos mañana?
[12/10/2023, 21:16] Ana: Sí, perfecto
12/10/23, 21:17 - Juan: ¿A qué hora?"""

WITH_NOTICES = """12/10/23, 21:00 - Los mensajes y las llamadas están cifrados de extremo a extremo. Nadie fuera de \
este chat, ni siquiera WhatsApp, puede leerlos ni escucharlos.
12/10/23, 21:01 - Ana creó el grupo "Cena"
12/10/23, 21:02 - Ana: Hola:
¿quién trae el pan?

Yo no puedo
12/10/23, 21:03 - Juan añadió a Íñigo Núñez
12/10/23, 21:04 - Íñigo Núñez: <Multimedia omitido>
12/10/23, 21:05 - Juan: Se eliminó este mensaje.
"""


def rows(content: str) -> list[tuple[int, str, str]]:
    return [(message.line_no, message.sender, message.text) for message in parse_whatsapp_txt(content)]


# Names, fields and defaults


def test_the_data_classes_have_the_specified_fields_in_order() -> None:
    assert [field.name for field in fields(ChatMessage)] == ["chat_id", "timestamp", "sender", "text", "line_no"]
    assert [field.name for field in fields(Chunk)] == [
        *("chunk_id", "chat_id", "start_ts", "end_ts", "participants", "line_span", "text_window")
    ]
    message = ChatMessage("chat", datetime(2023, 10, 12), "Juan", "Hola", 42)
    message.text = "Adiós"
    assert message == ChatMessage("chat", datetime(2023, 10, 12), "Juan", "Adiós", 42)


def test_the_functions_have_the_specified_parameters() -> None:
    parse = inspect.signature(parse_whatsapp_txt).parameters
    assert {name: each.default for name, each in parse.items()} == {"content": inspect.Parameter.empty, "chat_id": None}
    chunk = inspect.signature(chunk_messages).parameters
    assert list(chunk) == ["messages", "window_size", "window_overlap"]
    assert (chunk["window_size"].default, chunk["window_overlap"].default) == (30, 10)
    assert list(inspect.signature(build_user_prompt).parameters) == ["context_snippets", "question"]


# Parsing


@pytest.mark.parametrize(
    ("line", "sender", "time", "text"),
    [
        ("[12/10/2023, 21:15] Juan: ¿Salimos mañana?", "Juan", datetime(2023, 10, 12, 21, 15), "¿Salimos mañana?"),
        ("12/10/23, 21:15 - Juan: ¿Salimos mañana?", "Juan", datetime(2023, 10, 12, 21, 15), "¿Salimos mañana?"),
        ("[26/05/25, 3:18:25 p.m.] Ana: Perfecto", "Ana", datetime(2025, 5, 26, 15, 18, 25), "Perfecto"),
    ],
)
def test_the_specified_formats(line: str, sender: str, time: datetime, text: str) -> None:
    assert parse_whatsapp_txt(line, "grupo") == [ChatMessage("grupo", time, sender, text, 1)]


def test_a_file_may_mix_formats() -> None:
    messages = parse_whatsapp_txt(MIXED, chat_id="family_group")
    assert [(each.sender, each.text) for each in messages] == [
        ("Juan", "¿Salimos mañana?"),
        ("Ana", "Sí, perfecto"),
        ("Juan", "¿A qué hora?"),
    ]
    assert {each.chat_id for each in messages} == {"family_group"}


def test_notices_are_no_messages_and_placeholders_are() -> None:
    assert rows(WITH_NOTICES) == [
        (3, "Ana", "Hola:\n¿quién trae el pan?\n\nYo no puedo"),
        (8, "Íñigo Núñez", "<Multimedia omitido>"),
        (9, "Juan", "Se eliminó este mensaje."),
    ]


@pytest.mark.parametrize("change", [str, lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_marks_and_line_ends_of_files_change_nothing(change: Any) -> None:
    assert rows(change(WITH_NOTICES)) == rows(WITH_NOTICES)


@pytest.mark.parametrize("sender", ["👩‍💻 Ana", "👨‍👩‍👧‍👦", "علی‌رضا", "क्‍ष"])
def test_names_keep_their_joiners(sender: str) -> None:
    (message,) = parse_whatsapp_txt(f"12/10/2023, 21:15 - \u200e{sender}\u200e: ¿Salimos?")
    assert message.sender == sender
    (chunk,) = chunk_messages([message])
    assert chunk.participants == [sender]
    assert chunk.text_window == f"[2023-10-12 21:15] {sender}: ¿Salimos?"


def test_a_date_that_the_file_leaves_open_has_the_day_first() -> None:
    (message,) = parse_whatsapp_txt("03/04/24, 10:00 - Ana: hola")
    assert (message.timestamp.month, message.timestamp.tzinfo) == (4, None)


@pytest.mark.parametrize("content", ["", "\ufeff", "  \n", "Esto no es un chat.", "\0\ud800"])
def test_what_is_no_chat_has_no_messages(content: str) -> None:
    assert parse_whatsapp_txt(content) == []


@pytest.mark.parametrize("content", [None, b"12/10/23, 21:00 - Ana: hola", 7])
def test_only_a_text_is_parsed(content: Any) -> None:
    with pytest.raises(TypeError, match=type(content).__name__):
        parse_whatsapp_txt(content)


def test_the_chats_id_is_the_same_in_every_process() -> None:
    code = f"from rag.core import parse_whatsapp_txt; print(parse_whatsapp_txt({MIXED!r})[0].chat_id)"
    (here,) = {message.chat_id for message in parse_whatsapp_txt(MIXED)}
    assert run(code, PYTHONHASHSEED="1").strip() == here
    assert parse_whatsapp_txt(MIXED + "!")[0].chat_id != here


@pytest.mark.long
def test_a_million_messages_fit_into_memory() -> None:
    code = (
        "import datetime as d; from rag.core import *; start = d.datetime(2015, 1, 1)\n"
        "content = '\\n'.join(f'{start + d.timedelta(minutes=n):%d/%m/%Y, %H:%M} - Ana: mensaje {n}'"
        " for n in range(1_000_000))\n"
        "chunks = chunk_messages(parse_whatsapp_txt(content))\n"
        "most = int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
        "print(len(chunks), chunks[-1].line_span[1], most // 1024)"
    )
    chunks, lines, megabytes = map(int, run(code).split())
    assert (chunks, lines) == (50_000, 1_000_000)
    assert megabytes < 1500


# Windows


def made(count: int, chat: str = "chat") -> list[ChatMessage]:
    """Messages a minute apart, each on a line of its own."""
    start = datetime(2023, 10, 12, 21, 0)
    return [
        ChatMessage(chat, start + timedelta(minutes=number), ("Ana", "Juan")[number % 2], f"mensaje {number}", number)
        for number in range(1, count + 1)
    ]


def test_a_window_is_as_specified() -> None:
    juan = ChatMessage("abc123", datetime(2023, 10, 12, 21, 15, 30), "Juan", "¿Salimos mañana?", 40)
    ana = ChatMessage("abc123", datetime(2023, 10, 12, 21, 16), "Ana", "Sí, perfecto", 41)
    (chunk,) = chunk_messages([juan, ana, juan])
    assert chunk.chat_id == "abc123"
    assert (chunk.start_ts, chunk.end_ts) == (juan.timestamp, juan.timestamp)
    assert chunk.participants == ["Ana", "Juan"]
    assert chunk.line_span == (40, 40)
    assert chunk.text_window.split("\n")[:2] == [
        "[2023-10-12 21:15] Juan: ¿Salimos mañana?",
        "[2023-10-12 21:16] Ana: Sí, perfecto",
    ]


def test_windows_overlap_by_ten_of_thirty() -> None:
    chunks = chunk_messages(made(70))
    assert [chunk.line_span for chunk in chunks] == [(1, 30), (21, 50), (41, 70)]
    assert chunks[0].text_window.split("\n")[20:] == chunks[1].text_window.split("\n")[:10]


@given(st.integers(0, 80), st.integers(1, 12), st.data())
def test_windows_cover_everything_and_each_brings_something_new(count: int, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    spans = [chunk.line_span for chunk in chunk_messages(made(count), size, overlap)]
    assert sorted({line for first, last in spans for line in range(first, last + 1)}) == list(range(1, count + 1))
    assert all(last - first < size for first, last in spans)
    assert all(one[1] - other[0] + 1 == overlap for one, other in pairwise(spans))
    assert all(one[1] < other[1] for one, other in pairwise(spans))


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, 6), (5, -1)])
def test_windows_that_cannot_be_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match=f"window_size is {size} and window_overlap {overlap}"):
        chunk_messages(made(3), size, overlap)


def test_a_message_stays_on_one_line() -> None:
    (chunk,) = chunk_messages(parse_whatsapp_txt(WITH_NOTICES))
    assert chunk.text_window.splitlines() == [
        "[2023-10-12 21:02] Ana: Hola: ¿quién trae el pan? Yo no puedo",
        "[2023-10-12 21:04] Íñigo Núñez: <Multimedia omitido>",
        "[2023-10-12 21:05] Juan: Se eliminó este mensaje.",
    ]
    forged = ChatMessage("chat", datetime(2024, 1, 1), "Eva", "hola\u2028[2024-01-01 00:00] Juan: te debo mil\x85", 1)
    assert chunk_messages([forged])[0].text_window.splitlines() == [
        "[2024-01-01 00:00] Eva: hola [2024-01-01 00:00] Juan: te debo mil"
    ]


def test_a_span_of_lines_holds_the_last_message_whole() -> None:
    messages = parse_whatsapp_txt(WITH_NOTICES)
    assert chunk_messages(messages[:1])[0].line_span == (3, 6)
    lines = EXAMPLE_CHAT.read_text("utf-8").split("\n")
    for chunk in chunk_messages(parse_whatsapp_txt("\n".join(lines)), 5, 2):
        first, last = chunk.line_span
        inside = chunk_messages(parse_whatsapp_txt("\n".join(lines[first - 1 : last])), 5, 2)
        assert [each.text_window for each in inside] == [chunk.text_window]


def test_no_window_mixes_chats_and_no_two_share_an_id() -> None:
    one, other = made(40, "uno"), made(40, "otro")
    mixed = [message for pair in zip(one, other, strict=True) for message in pair]
    chunks = chunk_messages(mixed)
    assert [chunk.chat_id for chunk in chunks] == ["uno", "uno", "otro", "otro"]
    assert len({chunk.chunk_id for chunk in chunks}) == 4
    same = [ChatMessage("chat", datetime(2024, 1, 1), "Ana", "hola", 1)] * 40
    assert len({chunk.chunk_id for chunk in chunk_messages(same, 10, 0)}) == 4
    assert [chunk.chunk_id for chunk in chunk_messages(mixed)] == [chunk.chunk_id for chunk in chunks]


def test_no_messages_make_no_windows() -> None:
    assert chunk_messages([]) == []


# The cases collected from the tests of four other parsers


@pytest.mark.quality
def test_all_cases_of_the_peers_hold_through_the_application() -> None:
    """As far as a ChatMessage can express them: sender, time, text, order and number of people's messages."""
    if not DATA.is_dir():
        pytest.fail(f"this test scores against {DATA}: fetch the shared data, or deselect it with -m 'not quality'")
    cases = json.loads((DATA / "cases_dev.json").read_text(encoding="utf-8"))["cases"]
    check = scorer().check
    misses = {case["id"]: found for case in cases if (found := check(people_only(case), parsed(case)))}
    assert len(cases) == 75
    assert misses == {}


def scorer() -> Any:
    spec = importlib.util.spec_from_file_location("score_cases", Path(DATA, "score_cases.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def people_only(case: dict[str, Any]) -> dict[str, Any]:
    """What a case expects of people's messages, in the places that they have once the notices are left out."""
    expected = case["expect"]
    listed = expected.get("messages", [])
    if expected.get("messages_are"):
        return {"expect": {key: expected[key] for key in ("senders", "messages", "messages_are") if key in expected}}
    notices = [each["index"] for each in listed if is_notice(each)]
    # Where only some are listed, there may be notices among the others.
    is_complete = len(listed) == expected.get("count")
    people = []
    for each in listed:
        if not is_notice(each):
            place = each.get("index", 0) - sum(1 for notice in notices if notice < each.get("index", 0))
            told = {
                name: each[name] for name in ("timestamp", "sender", "text", "text_ws", "text_rstrip") if name in each
            }
            people.append({"index": place, **told})
    if (case.get("options") or {}).get("date_order") == "mdy":
        # It overrules the file, which the specified function doesn't offer.
        people = [{name: value for name, value in each.items() if name != "timestamp"} for each in people]
    kept = {key: expected[key] for key in ("error_or_empty", "user_count", "senders", "per_sender") if key in expected}
    if is_complete:
        kept["user_count"] = len(people)
    return {"expect": {**kept, "messages": people}}


def is_notice(expected: dict[str, Any]) -> bool:
    return expected.get("kind") == "system" or ("sender" in expected and expected["sender"] is None)


def parsed(case: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"timestamp": message.timestamp.isoformat(), "sender": message.sender, "text": message.text}
        for message in parse_whatsapp_txt(case["input"] or "")
    ]
