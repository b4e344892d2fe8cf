"""Test that quotes are shown without Markdown syntax, and with every other character."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import Document, DocumentType
from answerable.formats.locate import without_marks

MANUAL = """# Pump *manual*

**Warning. Never run** the pump dry, says `the_seal`.

> It lasts **24 months** from purchase,
> or _longer_.

```python
def start(*args, **kwargs):
    return a ** b
```

    indented = __init__(**kwargs)
"""


def shown(text: str, part: str = "", kind: DocumentType = DocumentType.MARKDOWN) -> str:
    """What is shown of a part of a text, by default of all of it."""
    start = text.index(part)
    return without_marks(Document("d", text, type=kind), start, start + len(part or text))


def test_marks_are_left_out_and_nothing_else() -> None:
    cases = [
        ("**bold** and *italic* and ***both***", "bold and italic and both"),
        ("__bold__ and _italic_ ~~gone~~", "bold and italic ~~gone~~"),
        ("**a *b* c**", "a b c"),
        ("run `pip install`, then ``a`b``", "run pip install, then a`b"),
        ("use `__init__` with `**kwargs`", "use __init__ with **kwargs"),
        ("## A heading ##\n> quoted\n> > twice", "A heading\nquoted\ntwice"),
        ("- item\n* other\n1. third", "- item\n* other\n1. third"),
        (
            "see [the **sheet**](https://x.org/a_(b)) and [here](../b.md)",
            "see the sheet (https://x.org/a_(b)) and here",
        ),
        ("[x.org](https://x.org/) <https://y.org> ![a cat](cat.png)", "x.org https://y.org a cat"),
        ("[[Note|shown]] and [[Other]]", "shown and Other"),
        (r"2 \* 3 and \_", "2 * 3 and _"),
        ("2 * 3 * 4, 2*3*4, a**b, snake_case_name, 5 > 3 # no", "2 * 3 * 4, 2*3*4, a**b, snake_case_name, 5 > 3 # no"),
        ("f(*args, **kwargs)", "f(*args, **kwargs)"),
        ("an **unclosed mark", "an **unclosed mark"),
    ]
    failed = [(written, got) for written, seen in cases if (got := shown(written)) != seen]
    assert failed == []


def test_a_part_of_bold_text_has_no_marks_either() -> None:
    assert shown(MANUAL, "**Warning.") == "Warning."
    assert shown(MANUAL, "Never run** the pump dry, says `the_seal`.") == "Never run the pump dry, says the_seal."
    assert shown(MANUAL, "24 months** from") == "24 months from"


def test_code_keeps_its_characters() -> None:
    for code in ("def start(*args, **kwargs):\n    return a ** b", "    indented = __init__(**kwargs)"):
        assert shown(MANUAL, code) == code
    assert shown("Run:\n```sh\nx **y**\n```\nThen **stop**.") == "Run:\nx **y**\nThen stop."
    assert shown("- item\n\n    **bold** in it", "    **bold** in it") == "    bold in it"


def test_other_formats_keep_what_is_no_mark_of_ours() -> None:
    for kind in (DocumentType.TEXT, DocumentType.CODE, DocumentType.CHAT, DocumentType.PDF, DocumentType.SPREADSHEET):
        assert shown(MANUAL, kind=kind) == MANUAL
    assert shown("# Sun\n\n> *literal* `text`", kind=DocumentType.HTML) == "Sun\n\n*literal* `text`"


@given(st.text(st.sampled_from("ab *_#>()!\\\n<"), max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_only_marks_can_go(text: str, first: int, last: int) -> None:
    start, end = sorted((min(first, len(text)), min(last, len(text))))
    seen = without_marks(Document("d", text, type=DocumentType.MARKDOWN), start, end)
    assert [letter for letter in seen if letter in "ab"] == [letter for letter in text[start:end] if letter in "ab"]


def test_hostile_text_takes_no_time() -> None:
    cases = ["*", "`", "[a", "**a ", "_a* ", "[](", "` `` ", "![a](b", "> ", "\\"]
    for text in cases:
        document = Document("d", text * (200_000 // len(text)), type=DocumentType.MARKDOWN)
        started = time.process_time()
        without_marks(document, 100_000, 100_200)
        assert time.process_time() - started < 2, text
