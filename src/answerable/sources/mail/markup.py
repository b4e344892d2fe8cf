"""A message in HTML → its text, without what mail programs mark as quoted, signed or hidden."""

from __future__ import annotations

from answerable.errors import DamagedSource

# Of Outlook, Gmail, Thunderbird and Yahoo. What they quote becomes lines with ">", like any quotation.
_SIGNATURES = ".gmail_signature, .moz-signature, #Signature, #ms-outlook-mobile-signature, .yahoo-signature"
_HIDDEN = "[style*='display:none' i], [style*='display: none' i], [style*='mso-hide:all' i]"


def text_of_markup(markup: str) -> str:
    """Return the text of a message as Markdown; "" if it is nested too deeply."""
    from answerable.sources.html.parse import parse_page, valid_markup
    from answerable.sources.html.walk import render

    try:
        page = parse_page(valid_markup(markup, ""))
    except DamagedSource:
        return ""
    page.strip_tags(["script", "style", "template", "title"])
    for node in page.css(f"{_SIGNATURES}, {_HIDDEN}"):
        if node.tag not in ("html", "body"):
            node.decompose()
    root = page.body or page.root
    return render(root)[0] if root is not None else ""
