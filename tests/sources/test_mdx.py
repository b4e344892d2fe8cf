"""MDX: what readers of the page see is the content, and nothing of what programs it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.errors import EmptySource
from answerable.sources.markdown import read_markdown
from answerable.sources.mdx import plain_mdx

PAGE = """---
title: Arms
---
import Tabs from '@theme/Tabs';
import {
  First,
  Second,
} from "x"
import Intro from './_intro.mdx'
import './style.css';

export const Colour = ({children}) => (
  <span style={{color: 'red'}}>

    {children}
  </span>
);

# Arms {/* #own */}

{/* a note
over lines */}
Import duties are high; export controls, too. See `<Tabs>` and 3 < 4.

<Tabs groupId="os" values={[{label: 'a > b', value: "}"}]}>
  <TabItem value="py" label="Python">

## In a tab

Text *between* <b>tags</b> stays.<br/>

```jsx
import X from 'y';
<Tabs>
```

  </TabItem>
</Tabs>

<!-- a note of HTML -->
<Intro />
See <https://example.org/> and [a](<b c>).

<style>{`
 .a { color: red }
`}</style>
<>Last</>.
"""


def test_only_what_readers_see_is_left() -> None:
    document = read_markdown(PAGE, "/book/arms.mdx")
    lines = document.content.split("\n")
    code = lines.index("```jsx")
    assert lines[code : code + 4] == ["```jsx", "import X from 'y';", "<Tabs>", "```"]
    text = "\n".join([*lines[3:code], *lines[code + 4 :]])
    assert [line.strip() for line in text.split("\n") if line.strip()] == [
        "# Arms",
        "Import duties are high; export controls, too. See `<Tabs>` and 3 < 4.",
        "Python",
        "## In a tab",
        "Text *between* tags stays.",
        "See <https://example.org/> and [a](<b c>).",
        "Last.",
    ]
    assert document.metadata == {"includes": "./_intro.mdx"}
    assert [(part.headings, part.anchor) for part in document.parts[1:]] == [
        (("Arms",), "own"),
        (("Arms", "In a tab"), "in-a-tab"),
    ]


def test_lines_keep_their_numbers() -> None:
    before, after = PAGE.split("\n"), read_markdown(PAGE, "a.mdx").content.split("\n")
    assert len(before) == len(after)
    for shown in ("## In a tab", "Text *between*", "import X from 'y';", "See <https"):
        assert [shown in line for line in before].index(True) == [shown in line for line in after].index(True)


@pytest.mark.parametrize(
    "text",
    [
        "# Java\n\nimport duties rise, export too.\n\nUse List<String> here, git switch <branch>, x<y.\nimport x\n",
        "```js\nimport a from 'b'\n```\n\n~~~\n<Tabs>\n~~~\n",
        "Text with `import a from 'b'` and\n`<Tabs>`.\n",
        "Text:\n\n    <div>code</div>\n    ::: code\n\n```html\n<!-- note -->\n<b>bold</b>\n:::\n```\n",
        "Mail <ana@example.org>, see <https://example.org/>.\n",
        "An < open tag <Tabs and an end\n\n{/* not closed\n",
    ],
)
def test_plain_markdown_stays_as_it_is(text: str) -> None:
    assert read_markdown(text, "/notes/a.md").content == text


PLAIN = """---
title: Robots
---
<!-- do not tell students:
the answer is 42 -->
# Robots {#robots-top}

<div class="note">
Robots <b>move</b> arms.<br/>They stop.
</div>

:::tip[Read **this**]
Grease the joints.
:::

> ::: warning Mind the gap
> Stop.
> :::

<details><summary>Answer</summary>

Forty-two <img src="a.png" alt="x">.
</details>

Setext {#st}
======
<p>Last
"""


@pytest.mark.parametrize("name", ["/book/robots.md", "/book/robots.mdx"])
def test_what_readers_of_markdown_do_not_see_is_no_text(name: str) -> None:
    document = read_markdown(PLAIN, name)
    assert [line.strip() for line in document.content.split("\n")[3:] if line.strip()] == [
        "# Robots",
        "Robots move arms. They stop.",
        "Read **this**",
        "Grease the joints.",
        "> Mind the gap",
        "> Stop.",
        ">",
        "Answer",
        "Forty-two .",
        "Setext",
        "======",
        "<p>Last" if name.endswith(".md") else "Last",
    ]
    assert [(part.headings, part.anchor) for part in document.parts[1:]] == [
        (("Robots",), "robots-top"),
        (("Setext",), "st"),
    ]
    assert [document.content[part.start :].partition("\n")[0] for part in document.parts[1:]] == ["# Robots", "Setext"]
    assert document.content.count("\n") == PLAIN.count("\n")


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("::: details Click **me**\nYes.\n:::", "Click **me**\nYes.\n"),
        (":::{note} A _title_\nYes.\n:::", "A _title_\nYes.\n"),
        (":::note[A title]{.wide}\nYes.\n:::", "A title\nYes.\n"),
        ("::: package.Class\nYes.", "package.Class\nYes."),
        ('<TabItem value="mac" label="macOS 14" default>\nbrew\n</TabItem>', "macOS 14\nbrew\n"),
        ("<TabItem value='win'\n  label={'Windows'}>choco</TabItem>", "Windows \nchoco"),
        ('<TabItem label="Debian\'s" value="deb">apt</TabItem>', "Debian's apt"),
        ('<TabItem value="npm">\nnpm i\n</TabItem>', "npm\nnpm i\n"),
        (
            "<Tabs values={[{label: 'Red Hat', value: 'rh'}, {value: 'x', label: \"X's\"}]}>\n"
            '<TabItem value="rh">\ndnf\n</TabItem>\n<TabItem value="x">\ny\n</TabItem>\n</Tabs>',
            "\nRed Hat\ndnf\n\nX's\ny\n\n",
        ),
        ('<Admonition type="tip" title="Careful">\nGrease.\n</Admonition>', "Careful\nGrease.\n"),
    ],
)
def test_labels_of_tabs_and_boxes_are_kept(markup: str, shown: str) -> None:
    assert read_markdown(f"{markup}\n", "/book/a.md").content == f"{shown}\n"


@pytest.mark.parametrize(
    "code",
    [
        "import Tabs from '@theme/Tabs';\n",
        "export const a = 1;\n\n<Tabs>\n",
        "<Tabs>\n",
        "  <Admonition type='note'>\n",
    ],
)
def test_a_page_with_components_is_mdx_whatever_its_name(code: str) -> None:
    document = read_markdown(f"{code}\n# Arms\n\n<b>Arms</b> move.\n", "/book/arms.md")
    assert document.content.strip() == "# Arms\n\nArms move."


def test_a_file_of_code_alone_holds_no_text() -> None:
    with pytest.raises(EmptySource):
        read_markdown("import A from 'a'\n\n<A />\n", "a.mdx")


@pytest.mark.parametrize(
    "piece",
    [
        *("<a ", "\nimport {"),
        *(
            pytest.param(piece, marks=pytest.mark.long)
            for piece in (
                *('<a "', "<A b={", "<A b={`", "<A b='", "{/*", "<!--", "`", "```\n", "\n~~~", "<style>", "<Tabs>\n"),
                *(
                    "\n    <a>\n\n",
                    "\n:::a [",
                    "<A label='",
                    "<br>",
                    "export const a = {\n\n",
                    "\nimport a,",
                    "import ",
                    "\nexport {'",
                    "{ /*",
                ),
            )
        ),
    ],
)
def test_time_grows_with_the_size_only(piece: str) -> None:
    spent = []
    for count in (20_000, 80_000):
        started = time.process_time()
        plain_mdx(piece * count, 0)
        spent.append(time.process_time() - started)
    assert spent[1] < 8 * spent[0] + 0.5


PIECES = [
    *(
        ":::tip[a]\n",
        "<br>",
        "<A label='b'>",
        "    ",
        "import a from 'b'\n",
        "export const a = {\n",
        "}\n",
        "\n",
        "<A b={",
        "}>",
        "<b>",
        "</b>",
        "`",
        "```\n",
        "{/*",
    ),
    *("*/}", "<!--", "-->", "'", '"', "\\", "(", "# a\n", "text ", "<style>", "</style>"),
]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_keeps_its_lines_and_loses_no_other_order(text: str) -> None:
    content = plain_mdx(text, 0).content
    assert content.count("\n") == text.count("\n")
    rest = iter(text)
    # Words that a tag kept apart get a space.
    assert all(character in rest for character in content if not character.isspace())
