"""An HTTP server in a thread: it answers as told, notes what it was asked, and can fail as real ones do."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, TypeVar


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


class ScriptedServer(ABC):
    """Answers requests one by one as its subclass says.

    Attributes:
        path: of the address that it serves.
        url: that address.
        requests: what was asked, in order of arrival.
        headers: their headers.
        times: when each came.
        most: most requests under way at a time.
        served: whole responses with status 200.
    """

    path: ClassVar[str]

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.most = self.served = self._under_way = 0
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.httpd.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}{self.path}"

    @abstractmethod
    def read(self, handler: BaseHTTPRequestHandler) -> dict[str, Any]:
        """Return what is asked."""

    @abstractmethod
    def reply(self, request: dict[str, Any], attempt: int) -> Response:
        """Return what there is to say; ``attempt`` is the number of equal requests before."""

    def respond(self, request: dict[str, Any], headers: dict[str, str]) -> Response:
        """Note a request and return what there is to say."""
        with self._lock:
            key = json.dumps(request, sort_keys=True)
            attempt = self._seen[key]
            self._seen[key] += 1
            self.requests.append(request)
            self.headers.append(headers)
            self.times.append(time.monotonic())
        return self.reply(request, attempt)

    def enter(self, change: int) -> None:
        """Note that a request comes or goes."""
        with self._lock:
            self._under_way += change
            self.most = max(self.most, self._under_way)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                server.enter(1)
                response = server.respond(server.read(self), {k.lower(): v for k, v in self.headers.items()})
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
                    pass  # the client has gone: it timed out, or has read enough

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


S = TypeVar("S", bound=ScriptedServer)


@contextmanager
def running(server: S) -> Iterator[S]:
    """Run a server while the context lasts."""
    thread = threading.Thread(target=server.httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.httpd.shutdown()
        server.httpd.server_close()
        thread.join()
