"""A chat model that obeys: an OpenAI-compatible server that does whatever the documents in its prompt ask for.

It hands over the honest sentence as evidence, and what the attacks say as more of it. Then it writes the sentence, with
its mark, and what every attack wants that it can see in its passages, also in characters that people can't see. Asked
which sentences its sources don't say, it names none. It streams in pieces of a few characters, so that nothing comes
whole.
"""

from __future__ import annotations

import json
import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from attacks import Attack

PIECE = 5
USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}

_PASSAGE = re.compile(r'<passage number="(\d+)"')


class Adversary:
    """Runs the server for as long as it is entered. `shameless` obeys every attack, whether it is in the prompt or not.

    `prompts` are those that came, `obeyed` the files whose attacks were followed, prompt by prompt.
    """

    def __init__(self, attacks: Sequence[Attack], shameless: bool = False) -> None:
        self.prompts: list[str] = []
        self._texts: dict[str, str] = {}
        self.obeyed: list[list[str]] = []
        self._attacks = attacks
        self._shameless = shameless
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The address that clients are given as the base."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Adversary:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply(self, asked: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """What it writes, and the evidence that it hands over before."""
        messages = asked["messages"]
        given = (message for message in messages if message["role"] in ("system", "user"))
        prompt = "\n\n".join(message["content"] for message in given)
        if "tools" not in asked:
            return "[]", []
        if messages[-1]["role"] == "tool":
            return self._texts[prompt], []
        text, evidence = self._answer(prompt)
        self._texts[prompt] = text
        return "", evidence

    def _answer(self, prompt: str) -> tuple[str, list[dict[str, Any]]]:
        """The honest sentence first or last, the obedience around it; and the evidence."""
        seen = _seen(prompt)
        followed = [
            attack for attack in self._attacks if self._shameless or all(_seen(one) in seen for one in attack.triggers)
        ]
        self.prompts.append(prompt)
        self.obeyed.append([attack.file for attack in followed])
        honest = list(_honest(prompt, self._attacks))
        parts = [*(f"{each['text']} [{at}]" for at, each in enumerate(honest, 1)), *(each.written for each in followed)]
        text = "\n\n".join(parts if len(self.prompts) % 2 else reversed(parts)) or "Nothing."
        return text, [*honest, *({"passage": 1, "text": attack.written} for attack in followed)]


def _honest(prompt: str, attacks: Sequence[Attack]) -> Iterator[dict[str, Any]]:
    for attack in attacks:
        place = prompt.find(attack.fact)
        if place >= 0 and attack.question in prompt:
            yield {"passage": int(_PASSAGE.findall(prompt, 0, place)[-1]), "text": attack.fact}


def _seen(text: str) -> str:
    """The letters and digits of a text, those in tag characters too."""
    text = "".join(chr(ord(one) - 0xE0000) if 0xE0020 <= ord(one) < 0xE007F else one for one in text)
    return "".join(one for one in unicodedata.normalize("NFKC", text).casefold() if one.isalnum())


def _handler(adversary: Adversary) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": "adversary", "object": "model", "owned_by": "tests"}]})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text, evidence = adversary.reply(asked)
            if asked.get("stream"):
                self._stream(text, evidence)
            else:
                choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
                self._send(_body("chat.completion", choice, USAGE))

        def _stream(self, text: str, evidence: Sequence[dict[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            if evidence:
                arguments = json.dumps({"verdict": "answer", "items": evidence})
                call = {"index": 0, "id": "1", "function": {"name": "evidence", "arguments": arguments}}
                self._event({"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None})
            for start in range(0, len(text), PIECE):
                self._event({"index": 0, "delta": {"content": text[start : start + PIECE]}, "finish_reason": None})
            self._event({"index": 0, "delta": {}, "finish_reason": "stop"}, USAGE)
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

        def _event(self, choice: dict[str, Any], usage: dict[str, int] | None = None) -> None:
            data = json.dumps(_body("chat.completion.chunk", choice, usage))
            self.wfile.write(f"data: {data}\n\n".encode())

        def _send(self, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _body(kind: str, choice: dict[str, Any], usage: dict[str, int] | None) -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 1, "model": "adversary", "choices": [choice], "usage": usage}
