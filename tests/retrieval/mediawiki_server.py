"""A wiki in a thread that speaks MediaWiki's API (formatversion 2), and can fail in the ways that real ones do."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.generation.fake_server import Response

Fault = Callable[[dict[str, str], int], Response | None]


@dataclass
class WikiPage:
    """A page as an editor made it."""

    extract: str
    links: tuple[str, ...] = ()
    disambiguation: bool = False
    namespace: int = 0


@dataclass
class Wiki:
    """What a wiki holds; ``found`` are the titles that its search gives for words, else those that hold them all."""

    pages: dict[str, WikiPage] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)

    def answer(self, parameters: dict[str, str]) -> dict[str, Any]:
        """Return the response to a query."""
        if parameters.get("list") == "search":
            return {"batchcomplete": True, "query": {"search": self._search(parameters)}}
        titles = parameters["titles"].split("|")
        normalized = {title: title[:1].upper() + title[1:].replace("_", " ") for title in titles}
        query: dict[str, Any] = {"normalized": _steps({a: b for a, b in normalized.items() if a != b})}
        chains = {title: self._chain(title) for title in normalized.values()}
        query["redirects"] = _steps({a: self.redirects[a] for chain in chains.values() for a in chain[:-1]})
        query["pages"] = [self._page(title, parameters) for title in dict.fromkeys(c[-1] for c in chains.values())]
        return {"batchcomplete": True, "query": query}

    def _chain(self, title: str) -> list[str]:
        chain = [title]
        while chain[-1] in self.redirects and self.redirects[chain[-1]] not in chain[:-1]:
            chain.append(self.redirects[chain[-1]])
        return chain

    def _page(self, title: str, parameters: dict[str, str]) -> dict[str, Any]:
        page = self.pages.get(title)
        if page is None:
            return {"ns": 0, "title": title, "missing": True}
        props = parameters["prop"].split("|")
        whole: dict[str, Any] = {"pageid": 1, "ns": page.namespace, "title": title}
        if page.disambiguation and "pageprops" in props:
            whole["pageprops"] = {"disambiguation": ""}
        if "extracts" in props:
            whole["extract"] = page.extract.split("\n\n\n")[0] if "exintro" in parameters else page.extract
        if "links" in props:
            whole["links"] = [{"ns": 0, "title": link} for link in sorted(page.links)]
        return whole

    def _search(self, parameters: dict[str, str]) -> list[dict[str, Any]]:
        words = parameters["srsearch"]
        holding = [t for t, p in self.pages.items() if all(w in f"{t} {p.extract}".lower() for w in words.split())]
        titles = self.found.get(words, holding)[: int(parameters["srlimit"])]
        return [{"ns": 0, "title": title, "snippet": "<b>x</b>"} for title in titles]


class MediaWikiServer:
    """Serves a wiki; ``fault`` may give another response to a request and the number of equal ones before it.

    Attributes:
        url: the address of the API.
        requests: the parameters of the requests, in order of arrival.
        headers: their headers.
        times: when each came.
        most: most requests under way at a time.
    """

    def __init__(self, wiki: Wiki, fault: Fault) -> None:
        self.wiki, self.fault = wiki, fault
        self.requests: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.most = self._under_way = 0
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.httpd.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}/w/api.php"

    def respond(self, parameters: dict[str, str], headers: dict[str, str]) -> Response:
        """Note a request and return what there is to say."""
        with self._lock:
            key = json.dumps(parameters, sort_keys=True)
            attempt = self._seen[key]
            self._seen[key] += 1
            self.requests.append(parameters)
            self.headers.append(headers)
            self.times.append(time.monotonic())
        return self.fault(parameters, attempt) or good(self.wiki.answer(parameters))

    def enter(self, change: int) -> None:
        """Note that a request comes or goes."""
        with self._lock:
            self._under_way += change
            self.most = max(self.most, self._under_way)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.enter(1)
                parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
                response = server.respond(parameters, {k.lower(): v for k, v in self.headers.items()})
                time.sleep(response.sleep)
                server.enter(-1)
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
                except OSError:
                    pass  # the client has gone: it timed out, or has read enough

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def good(body: object) -> Response:
    """Return a response with a body as JSON."""
    return Response(json.dumps(body).encode())


def reported(code: str, **headers: str) -> Response:
    """Return an error as the API reports it: with status 200."""
    body = {"error": {"code": code, "info": f"because of {code}"}, "servedby": "x"}
    return Response(json.dumps(body).encode(), 200, {name.replace("_", "-"): value for name, value in headers.items()})


@contextmanager
def serving(wiki: Wiki, fault: Fault = lambda parameters, attempt: None) -> Iterator[MediaWikiServer]:
    """Run a server while the context lasts."""
    server = MediaWikiServer(wiki, fault)
    thread = threading.Thread(target=server.httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.httpd.shutdown()
        server.httpd.server_close()
        thread.join()


def _steps(steps: dict[str, str]) -> list[dict[str, str]]:
    return [{"from": start, "to": end} for start, end in steps.items()]
