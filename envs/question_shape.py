"""The shape of a question: its form and the words that matter."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ..data.text import content_words, name_spans, words

_AUXILIARIES = frozenset("is are was were do does did has have had can could will would".split())
_COMPARING = frozenset(
    "or both same older younger earlier later first longer shorter larger smaller taller higher more".split()
)
_LINKS = frozenset("of by whose that which who where".split())


class QuestionShape(NamedTuple):
    """What a question looks like.

    Attributes:
        words: number of words.
        content: its content words, in order, without repetition.
        names: its capitalised spans.
        form: "who", "when", "where", "how_many", "yes_no", "what" or "other".
        compares: whether it compares two things.
        links: number of words that chain one entity to another.
    """

    words: int
    content: tuple[str, ...]
    names: tuple[str, ...]
    form: str
    compares: bool
    links: int


@lru_cache(maxsize=4096)
def question_shape(question: str) -> QuestionShape:
    """Return the shape of a question."""
    tokens = words(question)
    content = tuple(dict.fromkeys(content_words(question)))
    links = sum(token in _LINKS for token in tokens[1:]) + question.count("'s ") + question.count("’s ")
    compares = len(_COMPARING.intersection(tokens)) > 0 and len(tokens) > 4
    return QuestionShape(len(tokens), content, name_spans(question), _form(tokens), compares, links)


def _form(tokens: list[str]) -> str:
    """Return the form, judged by the first question word."""
    if tokens and tokens[0] in _AUXILIARIES:
        return "yes_no"
    for token, following in zip(tokens, [*tokens[1:], ""]):
        form = _form_of(token, following)
        if form:
            return form
    return "other"


def _form_of(token: str, following: str) -> str:
    """Return the form that a word begins, or an empty string."""
    if token in {"who", "whom", "whose"}:
        return "who"
    asks_which = token in {"what", "which"}
    if token == "when" or (asks_which and following in {"year", "date", "month", "day"}):
        return "when"
    if token == "where" or (asks_which and following in {"city", "country", "place", "county"}):
        return "where"
    if token == "how" and following in {"many", "much", "long", "old", "far", "tall"}:
        return "how_many"
    return "what" if asks_which or token in {"how", "why"} else ""
