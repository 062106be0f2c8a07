"""A chat server in a thread: it answers as told, counts what it served, and can fail in every way that real ones do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.http_server import Response, ScriptedServer, running

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


Script = Callable[[dict[str, Any], int], Response]


def good(body: dict[str, Any], attempt: int) -> Response:
    """Answer as asked."""
    return Response(completion(good_text(body)))


def error(status: int, message: str = "no", **headers: str) -> Response:
    """Return an error as OpenAI's servers word it."""
    body = json.dumps({"error": {"message": message, "type": "x", "code": status}}).encode()
    return Response(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


class FakeServer(ScriptedServer):
    """Serves chat completions as ``script`` says, given a request and the number of equal ones before it."""

    path = "/v1"

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self.bodies = self.requests

    def read(self, handler: BaseHTTPRequestHandler) -> dict[str, Any]:
        """Return the body."""
        body: dict[str, Any] = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        return body

    def reply(self, request: dict[str, Any], attempt: int) -> Response:
        """Return what the script says."""
        return self.script(request, attempt)


def serving(script: Script = good) -> AbstractContextManager[FakeServer]:
    """Run a server while the context lasts."""
    return running(FakeServer(script))
