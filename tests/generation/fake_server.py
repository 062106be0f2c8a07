"""A chat server in a thread: it answers as told, counts what it served, and can fail in every way that real ones do."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KINDS = {"answer": "You answer", "judge": "You judge", "rewrite": "You write", "compress": "You choose"}
PROMPT_TOKENS, COMPLETION_TOKENS = 100, 7


def kind_of(body: dict[str, Any]) -> str:
    """Return which prompt a request holds."""
    text = body["messages"][0]["content"]
    return next((kind for kind, begin in KINDS.items() if text.startswith(begin)), "facts")


def question_of(body: dict[str, Any]) -> str:
    """Return the question that a request asks about."""
    text = body["messages"][1]["content"]
    return str(json.loads(re.findall(r"^Question: (.*)$", text, re.MULTILINE)[-1]))


def good_text(body: dict[str, Any]) -> str:
    """Return a reply of the form asked for."""
    question = question_of(body)
    replies: dict[str, Any] = {
        "answer": {"answer": question.split()[-1]},
        "judge": {"sufficient": False, "missing": f"more about {question.split()[-1]}"[:200]},
        "rewrite": {"query": f"new {question}"[:200]},
        "compress": {"snippets": [{"passage": 1, "sentence": 1}]},
        "facts": {"facts": [{"passage": 1, "fact": "a | b | c"}]},
    }
    return json.dumps(replies[kind_of(body)])


def completion(text: str | None, **more: Any) -> bytes:
    """Return the body of a chat completion."""
    usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS, "total_tokens": 107}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(whole | more).encode()


class Response:
    """What the server sends: a status, headers, a body; ``drop`` cuts the connection in the middle of the body."""

    def __init__(
        self,
        body: bytes,
        status: int = 200,
        headers: dict[str, str] | None = None,
        drop: bool = False,
        sleep: float = 0.0,
    ) -> None:
        self.body, self.status, self.headers, self.drop, self.sleep = body, status, headers or {}, drop, sleep


Script = Callable[[dict[str, Any], int], Response]


def good(body: dict[str, Any], attempt: int) -> Response:
    """Answer as asked."""
    return Response(completion(good_text(body)))


def error(status: int, message: str = "no", **headers: str) -> Response:
    """Return an error as OpenAI's servers word it."""
    body = json.dumps({"error": {"message": message, "type": "x", "code": status}}).encode()
    return Response(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


class FakeServer:
    """A server whose ``script`` gives the response to a request and the number of equal ones before it.

    Attributes:
        url: its base URL.
        bodies: the requests, in order of arrival.
        headers: their headers.
        times: when each came.
        most: most requests under way at a time.
        served: whole responses with status 200.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.most = self.served = self._under_way = 0
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.httpd.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}/v1"

    def respond(self, body: dict[str, Any], headers: dict[str, str]) -> Response:
        """Note a request and return what the script says."""
        with self._lock:
            key = json.dumps(body, sort_keys=True)
            attempt = self._seen[key]
            self._seen[key] += 1
            self.bodies.append(body)
            self.headers.append(headers)
            self.times.append(time.monotonic())
        return self.script(body, attempt)

    def enter(self, change: int) -> None:
        """Note that a request comes or goes."""
        with self._lock:
            self._under_way += change
            self.most = max(self.most, self._under_way)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.enter(1)
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                response = server.respond(body, {k.lower(): v for k, v in self.headers.items()})
                time.sleep(response.sleep)
                server.enter(-1)  # before it is sent, or the client's next request could come first
                self._send(response)

            def _send(self, response: Response) -> None:
                try:
                    self.send_response(response.status)
                    for name, value in {"Content-Type": "application/json", **response.headers}.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(response.body)))
                    self.end_headers()
                    self.wfile.write(response.body[: len(response.body) // 2] if response.drop else response.body)
                    if response.drop:
                        self.connection.close()
                    server.served += response.status == 200 and not response.drop
                except OSError:
                    pass  # the client has gone: it timed out

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@contextmanager
def serving(script: Script = good) -> Iterator[FakeServer]:
    """Run a server while the context lasts."""
    server = FakeServer(script)
    thread = threading.Thread(target=server.httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.httpd.shutdown()
        server.httpd.server_close()
        thread.join()
