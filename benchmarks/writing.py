"""What stands around a model costs: retrieval, prompt, cleaning, check, on 10,000 chunks; and how soon a token shows.

A server on loopback speaks the OpenAI protocol and writes sentences quoted from the passages it is given, a few
letters every 10 ms. The peer is the provider's own SDK, reading the same stream and doing nothing with it.
`--chunks 10000 --questions 20`.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from measuring import QUESTION, run_python, show
from synthetic import library_of

PAUSE = 0.01
LETTERS = 6
SENTENCES = 5


class Writer(BaseHTTPRequestHandler):
    """Streams its answer, and keeps when each piece was sent."""

    sent: ClassVar[list[float]] = []

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = request["messages"][-1]["content"]
        found = [text.strip() for text in re.findall(r"[A-Z][^.<>\n]{30,200}\.", prompt)][:SENTENCES]
        answer = " ".join(f"“{text}” [1]." for text in found) or "The documents don't say."
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.sent.clear()
        for start in range(0, len(answer), LETTERS):
            self._event({"content": answer[start : start + LETTERS]})
            time.sleep(PAUSE)
        self._event({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, delta: dict[str, str], finish: str | None = None) -> None:
        event = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "writer"}
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self.sent.append(time.monotonic())
        self.wfile.write(f"data: {json.dumps({**event, 'choices': [choice]})}\n\n".encode())
        self.wfile.flush()

    def do_GET(self) -> None:
        body = json.dumps(self.sent).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def serve() -> None:
    """Prints the server's address and serves until its input ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Writer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()


def ask(library: str, url: str, count: str) -> None:
    """Asks with the model, and reads the same stream with the bare SDK; prints medians."""
    from urllib.request import urlopen

    import openai

    import answerable

    costs: dict[str, list[float]] = {"written": [], "sdk": []}
    delays: list[float] = []
    prompts = 0
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none")
    settings = {"model": "openai:writer", "openai_base_url": f"{url}/v1", "refuse": False}
    with answerable.open(library, create=False, **settings) as opened:
        for number in range(int(count) + 2):
            question = f"{QUESTION} And what of note {number}?"
            started, seen = time.process_time(), []
            for event in opened.ask_stream(question):
                if event.text:
                    seen.append(time.monotonic())
                answer = event.answer
            spent = time.process_time() - started
            sent = json.loads(urlopen(f"{url}/sent").read())
            assert answer is not None
            started = time.process_time()
            messages: Any = [{"role": "user", "content": answer.draft}]
            for _ in client.chat.completions.create(model="writer", messages=messages, stream=True):
                pass
            if number >= 2:
                costs["written"].append(1000 * spent)
                costs["sdk"].append(1000 * (time.process_time() - started))
                delays += [1000 * min(abs(at - one) for one in sent if one <= at) for at in seen]
                prompts += len(answer.checks)
    report = {name: statistics.median(values) for name, values in costs.items()}
    print(json.dumps({**report, "delay": statistics.median(delays), "pieces": len(delays), "checked": prompts}))


def main() -> None:
    """Server, client and this process are three."""
    import subprocess

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=20)
    options = parser.parse_args()
    folder, built = library_of(options.chunks)
    with subprocess.Popen(
        [sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        found = run_python(__file__, "ask", folder, server.stdout.readline().strip(), options.questions).report
        server.stdin.close()
    rows = [
        ("a written and checked answer, p50", found["written"], "CPU ms"),
        ("the SDK alone reading such a stream, p50", found["sdk"], "CPU ms"),
        ("what stands around the model", found["written"] - found["sdk"], "CPU ms"),
        ("from sent to shown, p50", found["delay"], "ms"),
    ]
    show("writing", rows, chunks=built["chunks"], pieces=found["pieces"], checked=found["checked"])


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case ["ask", library, url, count]:
            ask(library, url, count)
        case _:
            main()
