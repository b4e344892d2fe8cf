"""Make a PDF that opens only with a password: the standard security handler, revision 2 (PDF 1.4, 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import md5

_PADDING = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_RIGHTS = (-4).to_bytes(4, "little", signed=True)
_ID = b"0123456789abcdef"


def locked_pdf(text: str, password: str) -> bytes:
    """A page with a line of ASCII text."""
    user = (password.encode("ascii") + _PADDING)[:32]
    owner = _rc4(md5(user).digest()[:5], user)
    key = md5(user + owner + _RIGHTS + _ID).digest()[:5]
    shown = f"BT /F1 14 Tf 72 720 Td ({text}) Tj ET".encode("ascii")
    stream = _rc4(md5(key + (4).to_bytes(3, "little") + b"\0\0").digest()[:10], shown)
    lock = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>"
    fonts = b"/Resources << /Font << /F1 5 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R %s >>" % fonts
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            page,
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            lock % (owner.hex().encode(), _rc4(key, _PADDING).hex().encode()),
        ]
    )


def _file(objects: Sequence[bytes]) -> bytes:
    data, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, identity = len(objects) + 1, _ID.hex().encode()
    trailer = b"<< /Size %d /Root 1 0 R /Encrypt %d 0 R /ID [<%s> <%s>] >>" % (size, size - 1, identity, identity)
    head = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n" % (size, table)
    return data + head + trailer + b"\nstartxref\n%d\n%%%%EOF\n" % len(data)


def _rc4(key: bytes, data: bytes) -> bytes:
    state, swap = list(range(256)), 0
    for at in range(256):
        swap = (swap + state[at] + key[at % len(key)]) % 256
        state[at], state[swap] = state[swap], state[at]
    found, one, other = bytearray(), 0, 0
    for byte in data:
        one = (one + 1) % 256
        other = (other + state[one]) % 256
        state[one], state[other] = state[other], state[one]
        found.append(byte ^ state[(state[one] + state[other]) % 256])
    return bytes(found)
