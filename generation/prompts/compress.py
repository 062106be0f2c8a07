"""Compression: sentences chosen by number, or, where many are wanted, a table of facts."""

from __future__ import annotations

from typing import Any

from ...data.records import Passage
from ..tasks import Compression, CompressTask, Snippet
from . import quoting
from .errors import ParseError
from .reply import check, object_schema, read_object, short_text, tokens_of
from .template import Messages, prompt

MOST_SENTENCES = 8
"""With a limit above this, MuSiQue's 12, facts are asked for (DynaKRAG, settings of the main runs)."""
_LIMIT = 96
_AROUND = 16
"""Tokens of the JSON around one snippet, and around all."""
_WORDS_A_TOKEN = 0.75
_NUMBER = {"type": "integer"}


def as_facts(task: CompressTask) -> bool:
    """Say whether a table of facts is asked for instead of sentences."""
    return task.max_snippets > MOST_SENTENCES


def render(task: CompressTask) -> Messages:
    """Return the messages."""
    asked = quoting.question(task.question)
    if as_facts(task):
        return prompt("compress_facts").messages(
            evidence=quoting.passages(task.passages),
            question=asked,
            max_snippets=task.max_snippets,
            max_words=int(task.max_tokens * _WORDS_A_TOKEN),
        )
    return prompt("compress").messages(
        evidence=quoting.numbered_sentences(task.passages), question=asked, max_snippets=task.max_snippets
    )


def parse(text: str, task: CompressTask) -> Compression:
    """Return what was chosen, ordered by passage and sentence; what exceeds the limits goes, the last named first.

    Raises:
        ParseError: if the reply is not ``{"snippets": [{"passage": 1, "sentence": 2}]}`` (for facts
            ``{"facts": [{"passage": 1, "fact": "..."}]}``) or names a passage or sentence that was not shown.
    """
    if as_facts(task):
        found = [_fact(row, task) for row in read_object(text, facts=list)["facts"]]
    else:
        found = [_sentence(row, task) for row in read_object(text, snippets=list)["snippets"]]
    kept = _within(list(dict.fromkeys(found)), task)
    return Compression(tuple(snippet for _, snippet in sorted(kept, key=lambda item: item[0])))


def completion_tokens(task: CompressTask) -> int:
    """Return the room that a reply needs."""
    return _AROUND * (1 + task.max_snippets) + (task.max_tokens if as_facts(task) else 0)


def schema(task: CompressTask) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    if as_facts(task):
        return object_schema(facts=_listed(object_schema(passage=_NUMBER, fact={"type": "string"})))
    return object_schema(snippets=_listed(object_schema(passage=_NUMBER, sentence=_NUMBER)))


def _listed(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


# Where it stands (passage, sentence), and the snippet.
_Placed = tuple[tuple[int, int], Snippet]


def _fact(row: Any, task: CompressTask) -> _Placed:
    read = check(row, "a fact", {"passage": int, "fact": str})
    place, passage = _passage(read["passage"], task)
    text = short_text(read["fact"], "a fact", _LIMIT)
    if not text:
        raise ParseError("a fact must not be empty")
    return (place, 0), Snippet(passage.id, text)


def _sentence(row: Any, task: CompressTask) -> _Placed:
    read = check(row, "a snippet", {"passage": int, "sentence": int})
    place, passage = _passage(read["passage"], task)
    shown = {index + 1: text for index, text in quoting.sentences(passage)}
    number = read["sentence"]
    if number not in shown:
        raise ParseError(f"passage {place} has the sentences {', '.join(map(str, shown))}, found {str(number)[:20]}")
    title = passage.title.strip()
    text = f"{title}: {shown[number]}" if title else shown[number]
    return (place, number), Snippet(passage.id, text, number - 1)


def _passage(number: int, task: CompressTask) -> tuple[int, Passage]:
    if not 1 <= number <= len(task.passages):
        raise ParseError(f"the passages are numbered 1 to {len(task.passages)}, found {str(number)[:20]}")
    return number, task.passages[number - 1]


def _within(found: list[_Placed], task: CompressTask) -> list[_Placed]:
    kept: list[_Placed] = []
    left = task.max_tokens
    for item in found:
        cost = tokens_of(item[1].text)
        if len(kept) < task.max_snippets and cost <= left:
            kept.append(item)
            left -= cost
    return kept
