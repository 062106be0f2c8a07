"""A wiki in a thread that speaks MediaWiki's API (formatversion 2), and can fail in the ways that real ones do."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.http_server import Response, ScriptedServer, running

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


class MediaWikiServer(ScriptedServer):
    """Serves a wiki; ``fault`` may give another response to a request and the number of equal ones before it."""

    path = "/w/api.php"

    def __init__(self, wiki: Wiki, fault: Fault) -> None:
        super().__init__()
        self.wiki, self.fault = wiki, fault

    def read(self, handler: BaseHTTPRequestHandler) -> dict[str, Any]:
        """Return the parameters."""
        return dict(parse_qsl(urlsplit(handler.path).query, keep_blank_values=True))

    def reply(self, request: dict[str, Any], attempt: int) -> Response:
        """Return the fault, or what the wiki answers."""
        return self.fault(request, attempt) or good(self.wiki.answer(request))


def good(body: object) -> Response:
    """Return a response with a body as JSON."""
    return Response(json.dumps(body).encode())


def reported(code: str, **headers: str) -> Response:
    """Return an error as the API reports it: with status 200."""
    body = {"error": {"code": code, "info": f"because of {code}"}, "servedby": "x"}
    return Response(json.dumps(body).encode(), 200, {name.replace("_", "-"): value for name, value in headers.items()})


def serving(wiki: Wiki, fault: Fault = lambda parameters, attempt: None) -> AbstractContextManager[MediaWikiServer]:
    """Run a server while the context lasts."""
    return running(MediaWikiServer(wiki, fault))


def _steps(steps: dict[str, str]) -> list[dict[str, str]]:
    return [{"from": start, "to": end} for start, end in steps.items()]
