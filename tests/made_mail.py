"""Mail as programs write it, for tests: messages, mailboxes, and files of Outlook."""

from __future__ import annotations

import mailbox
from collections.abc import Iterable
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path


def letter(
    text: str = "",
    *,
    sender: str = "Ana Ruiz <ana@example.org>",
    subject: str = "Boiler",
    date: str = "Tue, 05 Mar 2024 21:15:00 +0100",
    id: str = "",
    reply_to: Iterable[str] = (),
    html: str = "",
    attached: Iterable[tuple[str, bytes | str]] = (),
) -> EmailMessage:
    """A message; ids are without brackets."""
    message = EmailMessage()
    headers = {
        "From": sender,
        "To": "Ben <ben@example.org>",
        "Subject": subject,
        "Date": date,
        "Message-ID": f"<{id}>" if id else "",
        "References": " ".join(f"<{each}>" for each in reply_to),
    }
    for name, value in headers.items():
        if value:
            message[name] = value
    if text or not html:
        message.set_content(text)
    if html and text:
        message.add_alternative(html, subtype="html")
    elif html:
        message.set_content(html, subtype="html")
    for name, data in attached:
        if isinstance(data, str):
            message.add_attachment(data, filename=name)
        else:
            message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message


def write_mailbox(path: Path, messages: Iterable[EmailMessage]) -> Path:
    """A mailbox with these messages."""
    path.unlink(missing_ok=True)
    with closing(mailbox.mbox(path)) as box:
        for message in messages:
            box.add(message)
    return path
