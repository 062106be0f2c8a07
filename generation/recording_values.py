"""Requests and responses as canonical JSON: what a recording holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

from ..data.records import Passage, content_hash
from .tasks import Answer, Compression, Failed, Judgement, Rewriting, Snippet, Usage


class Entry(NamedTuple):
    """A recorded request with its response.

    Attributes:
        kind: the method that was called: answer, judge_sufficiency, rewrite or compress.
        request: the task as JSON, see :func:`request_json`.
        response: what came back as JSON, see :func:`response_json`.
    """

    kind: str
    request: str
    response: str

    @property
    def key(self) -> bytes:
        """The key of its request."""
        return key_of(self.kind, self.request)


def key_of(kind: str, request: str) -> bytes:
    """Return the 16 bytes under which a request is found, a hash of it."""
    return hashlib.blake2b(f"{kind}\x1f{request}".encode(), digest_size=16).digest()


def request_json(task: Any) -> str:
    """Return a task as JSON; equal tasks give the same bytes.

    A passage stands as its id, its title, and a hash of its sentences: no text of the corpus goes into a recording.
    """
    return _json({field.name: getattr(task, field.name) for field in fields(task)})


def response_json(response: Any) -> str:
    """Return a response, or the ``Failed`` in its place, as JSON."""
    return _json({field.name: getattr(response, field.name) for field in fields(response)})


def response_of(kind: str, text: str) -> Any:
    """Return the response that :func:`response_json` wrote for a kind.

    Raises:
        ValueError: if the text is not that of a response.
    """
    try:
        found = json.loads(text)
        usage = Usage(*(_checked(tokens, int) for tokens in found["usage"]))
        if "reason" in found:
            return Failed(_checked(found["reason"], str), usage)
        return _READERS[kind](found, usage)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a response to {kind!r} ({type(error).__name__}: {error})") from error


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    """Return what JSON does not know as something that it does."""
    if isinstance(value, Passage):
        return [value.id, value.title, _cut(value)]
    if isinstance(value, Snippet):
        return [value.passage_id, value.text, value.sentence]
    if isinstance(value, Usage):
        return [value.prompt_tokens, value.completion_tokens, value.calls]
    return value.item()  # a number of numpy


@lru_cache(maxsize=30_000)
def _cut(passage: Passage) -> str:
    """Return a hash of the sentences: an id says what the text is, and not where its sentences end."""
    return content_hash(*passage.sentences)


def _answer(found: Mapping[str, Any], usage: Usage) -> Answer:
    support = tuple((_checked(i, str), _checked(s, int)) for i, s in found["support"])
    return Answer(_checked(found["text"], str), support, _checked(found["confidence"], float), usage)


def _judgement(found: Mapping[str, Any], usage: Usage) -> Judgement:
    verdict, missing = _checked(found["sufficient"], bool), _checked(found["missing"], str)
    return Judgement(verdict, missing, _checked(found["probability"], float), usage)


def _rewriting(found: Mapping[str, Any], usage: Usage) -> Rewriting:
    return Rewriting(_checked(found["query"], str), usage)


def _compression(found: Mapping[str, Any], usage: Usage) -> Compression:
    snippets = [
        (_checked(i, str), _checked(t, str), s if s is None else _checked(s, int)) for i, t, s in found["snippets"]
    ]
    return Compression(tuple(Snippet(*snippet) for snippet in snippets), usage)


def _checked(value: Any, kind: type) -> Any:
    """Return the value if it is of the type; a whole number will do for a real one."""
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    raise TypeError(f"expected {kind.__name__}, found {value!r}")


_READERS: dict[str, Callable[[Mapping[str, Any], Usage], Any]] = {
    "answer": _answer,
    "judge_sufficiency": _judgement,
    "rewrite": _rewriting,
    "compress": _compression,
}
