"""Requests that are malformed, oversized or aimed at something else, by what is wrong with them."""

from __future__ import annotations

from raw_requests import chunked, post, request
from targets import SECRET

ASK = "/api/v1/book/ask"
SEARCH = "/api/v1/book/search"
QUESTION = b'{"question": "When was the lighthouse built?"}'
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "multipart/form-data; boundary=x"}


def raw(*lines: str, body: bytes = b"") -> bytes:
    """A request, line by line as it stands."""
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def sent(*headers: str, body: bytes = b"") -> bytes:
    """A question whose body is framed by these headers."""
    return raw(f"POST {ASK} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers, body=body)


def got(*headers: str, body: bytes = b"") -> bytes:
    """A GET with these headers."""
    return raw("GET /api/v1/libraries HTTP/1.1", "Host: localhost", *headers, body=body)


def ask(body: bytes, **headers: str) -> bytes:
    """A question whose body is these bytes."""
    return request("POST", ASK, body, {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}})


PATHS = {
    "dots in the library": "/api/v1/../../etc/passwd",
    "dots in the library, encoded": "/api/v1/%2e%2e/documents",
    "dots and slashes, encoded": "/api/v1/..%2f..%2f..%2fetc/documents",
    "dots, encoded twice": "/api/v1/%252e%252e%252f/documents",
    "backslashes": "/api/v1/..%5c..%5cnotes/documents",
    "dots in overlong UTF-8": "/api/v1/%c0%ae%c0%ae/documents",
    "a library's name with NUL": "/api/v1/book%00/documents",
    "a library's name with a line end": "/api/v1/book%0d%0a/documents",
    "a library's name in capitals": "/api/v1/BOOK/documents",
    "a library's name with a slash": "/api/v1/book%2fnotes/documents",
    "no library's name": "/api/v1//documents",
    "dots in the document": "/api/v1/book/documents/../../../library.db",
    "dots in the document, encoded": "/api/v1/book/documents/..%2f..%2flibrary.db",
    "a path for a document": "/api/v1/book/documents/%2fetc%2fpasswd/file",
    "a file's address for a document": "/api/v1/book/documents/file:%2f%2f%2fetc%2fpasswd",
    "a document's name with NUL": "/api/v1/book/documents/%00",
    "a document's name in no UTF-8": "/api/v1/book/documents/%ff%fe",
    "SQL for a document": "/api/v1/book/documents/'%20OR%201=1--",
    "a pattern for a document": "/api/v1/book/documents/%25",
    "a star for a document": "/api/v1/book/documents/*",
    "the beginning of a document's id": "/api/v1/book/documents/0",
    "SQL for a session": "/api/v1/book/sessions/'%20OR%20'1'='1",
    "dots in a job": "/api/v1/book/jobs/..%2f..%2fnotes",
    "a job's events that aren't": "/api/v1/book/jobs/%00/events",
    "dots in the page": "/page/../../../../etc/passwd",
    "dots in the page, encoded": "/page/%2e%2e/%2e%2e/app.py",
    "dots and slashes in the page": "/page/..%2f..%2fapp.py",
    "backslashes in the page": "/page/..%5c..%5capp.py",
    "two slashes in the page": "/page//etc/passwd",
    "NUL in the page": "/page/index.html%00.js",
    "two slashes first": "//etc/passwd",
    "another host's address": "http://169.254.169.254/latest/meta-data/",
    "a line end for a header": "/api/v1/book%0d%0aSet-Cookie:%20a=b/documents",
    "documentation that loads scripts": "/docs",
    "a negative offset": "/api/v1/book/documents?offset=-1",
    "an endless list": "/api/v1/book/documents?limit=99999999999999999999",
    "an offset that is no number": "/api/v1/book/documents?offset=1e3",
    "a span before the beginning": "/api/v1/book/documents/{document}/passages?start=-5&end=-1",
    "a span after the end": "/api/v1/book/documents/{document}/passages?start=0&end=99999999999",
    "a span that is turned around": "/api/v1/book/documents/{document}/passages?start=9&end=3",
    "more neighbours than there may be": "/api/v1/book/documents/{document}/passages?start=0&end=5&before=1000000",
    "rectangles of no PDF": "/api/v1/book/documents/{document}/rectangles?start=0&end=5",
    "an address that goes on and on": "/api/v1/book/documents/" + "a" * 20_000,
}
BODIES = {
    "no JSON": b"question=safe",
    "JSON that ends early": b'{"question": "When',
    "brackets that don't close": b"[" * 2_000,
    "a depth of thousands": b'{"question": "a", "where": ' + b'{"not": ' * 2_000 + b"{}" + b"}" * 2_001,
    "a depth of forty": b'{"question": "a", "where": ' + b'{"not": ' * 40 + b'{"a": 1}' + b"}" * 41,
    "a list of thousands of lists": b'{"question": "a", "where": {"a": [' + b"[]," * 4_000 + b"[]]}}",
    "NUL": b'{"question": "a\0b"}',
    "no UTF-8": b'{"question": "\xff\xfe"}',
    "UTF-16": '{"question": "a"}'.encode("utf-16"),
    "UTF-32": '{"question": "a"}'.encode("utf-32-le"),
    "half a character": b'{"question": "\\ud800"}',
    "half a character for a name": b'{"question": "a", "\\udfff": 1}',
    "half a character in a filter": b'{"question": "a", "where": {"source": "\\ud83d"}}',
    "a number of thousands of digits": b'{"question": "a", "k": ' + b"9" * 5_000 + b"}",
    "not a number": b'{"question": "a", "where": {"page": {"gte": NaN}}}',
    "an infinite number": b'{"question": "a", "k": 1e999}',
    "a list": b"[]",
    "nothing but null": b"null",
    "a question that is a number": b'{"question": 7}',
    "a question that is a list": b'{"question": ["a"]}',
    "an empty question": b'{"question": ""}',
    "a blank question": b'{"question": " \\n\\t "}',
    "a question of ten thousand letters": b'{"question": "' + b"a" * 10_000 + b'"}',
    "a field that there isn't": b'{"question": "a", "library": "notes"}',
    "a prototype": b'{"question": "a", "__proto__": {"role": "admin"}}',
    "a class": b'{"question": "a", "__class__": "Service"}',
    "a filter that is a text": b'{"question": "a", "where": "1=1"}',
    "a filter that is a list": b'{"question": "a", "where": [{"source": "a"}]}',
    "a filter with an operator of Mongo's": b'{"question": "a", "where": {"source": {"$ne": ""}}}',
    "a filter that is code": b'{"question": "a", "where": {"source": {"script": "1"}}}',
    "a filter of nothing": b'{"question": "a", "where": {"and": []}}',
    "a range of texts": b'{"question": "a", "where": {"page": {"gte": "\' OR 1=1"}}}',
    "a session that is a path": b'{"question": "a", "session": "../../x"}',
    "a session that is SQL": b'{"question": "a", "session": "\' OR \'1\'=\'1"}',
    "a session with NUL": b'{"question": "a", "session": "\\u0000"}',
    "a hint to another library": b'{"question": "a", "hint": {"document_id": "{notes}", "start": 0, "end": 5}}',
    "a hint before the beginning": b'{"question": "a", "hint": {"document_id": "{document}", "start": -3, "end": 5}}',
    "a hint after the end": b'{"question": "a", "hint": {"document_id": "{document}", "start": 0, "end": 99999999}}',
    "a hint that is turned around": b'{"question": "a", "hint": {"document_id": "{document}", "start": 5, "end": 2}}',
    "a selection of a book's length": b'{"question": "a", "selected_text": "' + b"a" * 30_000 + b'"}',
    "an instruction as a flag": b'{"question": "a", "keep": "yes"}',
    "more than may be sent": b'{"question": "' + b"a" * 70_000 + b'"}',
}
REQUESTS = {
    "a text, as a form of another site sends it": request("POST", ASK, QUESTION, {"Content-Type": "text/plain"}),
    "a form": request("POST", ASK, b"question=a", {"Content-Type": "application/x-www-form-urlencoded"}),
    "no type": request("POST", ASK, QUESTION),
    "files where a question belongs": request("POST", ASK, b"--x--", FORM),
    "two types": request("POST", ASK, QUESTION, {"Content-Type": "text/plain", "content-type": "application/json"}),
    "a compressed body": ask(b"\x1f\x8b\x08\0\0\0\0\0", Content_Encoding="gzip"),
    "a body compressed twice": ask(b"\x1f\x8b\x08\0\0\0\0\0", Content_Encoding="gzip, gzip"),
    "no body": request("POST", ASK, headers=JSON),
    "a method that there isn't": request("STEAL", ASK),
    "PUT": request("PUT", "/api/v1/book/documents/x", QUESTION, JSON),
    "PATCH": request("PATCH", "/api/v1/book/documents/x", QUESTION, JSON),
    "TRACE, which would give headers back": request("TRACE", ASK, headers={"X-API-Key": SECRET}),
    "CONNECT": request("CONNECT", "127.0.0.1:22"),
    "everything": request("OPTIONS", "*"),
    "DELETE of all documents": request("DELETE", "/api/v1/book/documents"),
    "GET of what only a POST does": request("GET", f"{ASK}?question=a"),
    "the search for less than nothing": post(SEARCH, {"question": "a", "k": -1}),
    "the search for nothing": post(SEARCH, {"question": "a", "k": 0}),
    "the search for everything": post(SEARCH, {"question": "a", "k": 10**9}),
    "a site on this machine": post("/api/v1/book/sources", {"url": "file:///etc/passwd"}),
    "a site that is a script": post("/api/v1/book/sources", {"url": "javascript:alert(1)"}),
    "a site with a line end": post("/api/v1/book/sources", {"url": "http://a/\r\nX: y"}),
    "a site that is a folder": post("/api/v1/book/sources", {"url": "/etc"}),
    "a database as a site": post("/api/v1/book/sources", {"url": "postgresql://a@b/c"}),
    "a length that is too large": sent("Content-Length: 9999999999", body=b"{"),
    "chunks without end": sent("Transfer-Encoding: chunked", body=chunked([b'{"question": "'] + [b"a" * 1_000] * 100)),
    "a length with many digits": sent("Content-Length: " + "9" * 50),
    "a length below nothing": sent("Content-Length: -1"),
    "a length with a sign": sent("Content-Length: +46", body=QUESTION),
    "two lengths": sent("Content-Length: 46", "Content-Length: 3", body=QUESTION),
    "two lengths in one": sent("Content-Length: 46, 3", body=QUESTION),
    "a length and chunks": sent("Content-Length: 46", "Transfer-Encoding: chunked", body=chunked([QUESTION])),
    "chunks of a kind unknown": sent("Transfer-Encoding: xchunked", body=QUESTION),
    "chunks that aren't last": sent("Transfer-Encoding: chunked, identity", body=QUESTION),
    "chunks twice": sent("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=chunked([QUESTION])),
    "chunks in odd letters": sent("Transfer-Encoding: \x0bchunked", body=chunked([QUESTION])),
    "a chunk of less than nothing": sent("Transfer-Encoding: chunked", body=b"-1\r\n{}\r\n0\r\n\r\n"),
    "a chunk's length in letters": sent("Transfer-Encoding: chunked", body=b"zz\r\n{}\r\n0\r\n\r\n"),
    "a space before the colon": sent("Content-Length : 46", body=QUESTION),
    "a header without a name": got(": value"),
    "a header with NUL": got("X-A: a\0b"),
    "a carriage return in a header": got("X-A: a\rSet-Cookie: b"),
    "line ends without a carriage return": b"GET /api/v1/libraries HTTP/1.1\nHost: localhost\n\n",
    "one line end without a carriage return": got("X-A: a\nX-B: b"),
    "a head that ends in a bare line feed": got().removesuffix(b"\r\n") + b"\n",
    "a request line that ends in a bare line feed": b"GET /api/v1/libraries HTTP/1.1\nHost: localhost\r\n\r\n",
    "a header that goes on in the next line": got("X-A: a", " b"),
    "a header that goes on behind a tab": got("X-A: a", "\tb"),
    "a length that goes on in the next line": sent("Content-Length:", " 46", body=QUESTION),
    "a length said twice alike": sent("Content-Length: 46", "Content-Length: 46", body=QUESTION),
    "a length said twice in one": sent("Content-Length: 46, 46", body=QUESTION),
    "trailers that end in bare line feeds": sent(
        "Transfer-Encoding: chunked", body=b"2e\r\n" + QUESTION + b"\r\n0\r\nX-A: a\n\n"
    ),
    "a body that ends in a bare line feed": sent(
        "Transfer-Encoding: chunked", body=b"2e\r\n" + QUESTION + b"\r\n0\r\n\n"
    ),
    "a trailer that goes on in the next line": sent(
        "Transfer-Encoding: chunked", body=b"2e\r\n" + QUESTION + b"\r\n0\r\nX-A: a\r\n b\r\n\r\n"
    ),
    "a chunk's length that ends in a bare line feed": sent(
        "Transfer-Encoding: chunked", body=b"2e\n" + QUESTION + b"\r\n0\r\n\r\n"
    ),
    "a carriage return behind a chunk's length": sent(
        "Transfer-Encoding: chunked", body=b"2e;a=\rb\r\n" + QUESTION + b"\r\n0\r\n\r\n"
    ),
    "thousands of letters behind a chunk's length": sent(
        "Transfer-Encoding: chunked", body=b"2e;" + b"a" * 20_000 + b"\r\n" + QUESTION + b"\r\n0\r\n\r\n"
    ),
    "chunks in a version that has none": sent("Transfer-Encoding: chunked", body=chunked([QUESTION])).replace(
        b"HTTP/1.1", b"HTTP/1.0", 1
    ),
    "a space before a colon": got("X-A : a"),
    "a tab before a colon": got("X-A\t: a"),
    "a space in a header's name": got("X A: a"),
    "two hosts": got("Host: localhost"),
    "no host": raw("GET /api/v1/libraries HTTP/1.1"),
    "a carriage return at a line's end": got("X-A: a\r"),
    "an empty line first": b"\r\n" + raw("GET /api/v1/libraries HTTP/1.1", "Host: localhost"),
    "NUL in the request line": raw("GET /api/v1/\0libraries HTTP/1.1", "Host: localhost"),
    "a line that goes on before any header": raw(f"GET {ASK} HTTP/1.1", " Host: localhost"),
    "headers that are too large": got("X-A: " + "a" * 100_000),
    "too many headers": got(*(f"X-{n}: a" for n in range(5_000))),
    "no request at all": b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + b"\0" * 100,
    "another protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version that there isn't": raw(f"GET {ASK} HTTP/9.9", "Host: localhost"),
    "a space too many": raw(f"GET  {ASK} HTTP/1.1", "Host: localhost"),
    "a body where there is none": raw(f"GET {ASK} HTTP/1.1", "Host: localhost", "Content-Length: 5", body=b"GET /"),
}
