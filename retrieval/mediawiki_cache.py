"""Responses of wikis on disk: a folder of JSON files, each written whole, by as many processes as like to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from ..data.records import content_hash
from ..data.storage import write_text

_WRITING = Lock()
"""Held while a file is written: its temporary name tells processes apart, but not threads."""


class WikiRequest(NamedTuple):
    """A question to a wiki.

    Attributes:
        api: the address of its API.
        parameters: what is asked, by name, in order of the names.
    """

    api: str
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, api: str, parameters: Mapping[str, str]) -> WikiRequest:
        """Build a request; halves of surrogate pairs, which no address could hold, become question marks."""
        sendable = {name: value.encode("utf-8", "replace").decode() for name, value in parameters.items()}
        return cls(api, tuple(sorted(sendable.items())))


class CachedResponse(NamedTuple):
    """What a wiki answered; None stands for more than is read."""

    body: dict[str, Any] | None


class ResponseCache:
    """Responses by request; they do not grow old: to have pages anew, remove the folder.

    Args:
        folder: where they lie; made when the first one is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, request: WikiRequest) -> CachedResponse | None:
        """Return the response to a request, None where there is none or its file is damaged."""
        try:
            held = json.loads(self._file(request).read_bytes())
            same = [held["api"], held["parameters"]] == [request.api, dict(request.parameters)]
            body = held["response"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return CachedResponse(body) if same and isinstance(body, dict | None) else None

    def put(self, request: WikiRequest, response: CachedResponse) -> None:
        """Write a response.

        Raises:
            DataError: if it cannot be written.
        """
        held = {"api": request.api, "parameters": dict(request.parameters), "response": response.body}
        with _WRITING:
            write_text(self._file(request), json.dumps(held, sort_keys=True))

    def _file(self, request: WikiRequest) -> Path:
        key = content_hash(request.api, *(part for pair in request.parameters for part in pair))
        return self.folder / key[:2] / f"{key}.json"
