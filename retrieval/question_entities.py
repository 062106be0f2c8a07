"""What a question is about, by rules: names, the kinds of thing it asks for, and its keywords."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ..data.text import STOP_WORDS, content_words, name_key, name_spans, words

MAX_NAME = 80
"""Longer spans are no titles."""
MAX_SUFFIXES = 6
_MAX_KEYWORDS = 300

SUFFIXES: dict[str, tuple[str, ...]] = {
    "film films movie movies directed director starred starring screenplay cinematographer": ("film",),
    "novel novels": ("novel", "book"),
    "book books author wrote written publisher published": ("book", "novel"),
    "song songs sung sang lyrics single": ("song",),
    "album albums track tracks": ("album",),
    "band bands vocalist guitarist drummer": ("band",),
    "singer musician composer composed": ("musician", "singer"),
    "series episode episodes season seasons sitcom television tv": ("TV series",),
    "play playwright": ("play",),
    "opera operas libretto": ("opera",),
    "magazine": ("magazine",),
    "newspaper": ("newspaper",),
    "game games developer developed": ("video game",),
    "company companies founded headquartered": ("company",),
    "actor actress": ("actor", "actress"),
    "politician president senator governor minister": ("politician",),
    "footballer football soccer": ("footballer",),
    "writer poet": ("writer", "poet"),
    "painting painter painted": ("painting", "painter"),
    "river": ("river",),
    "ship": ("ship",),
    "city town village county": ("city", "town"),
}
"""What titles have in brackets, by the words of a question that ask for such a thing."""

_BY_WORD = {word: suffixes for group, suffixes in SUFFIXES.items() for word in group.split()}
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
_NOT_IN_TITLES = re.compile(r"[|#<>\[\]{}\x00-\x1f\x7f\ud800-\udfff]+")
_OPENINGS = frozenset("name tell find give list identify describe".split())


def entities(query: str, question: str = "") -> tuple[str, ...]:
    """Return the names in a query, then those in the question, each once.

    Quoted titles come first, then capitalised spans; plain numbers, and spans that stand inside a longer one, are left
    out.

    Args:
        query: the words to search for.
        question: the question behind it.
    """
    found: dict[str, str] = {}
    for text in (query, question):
        for name in (_title(span) for span in _spans(unicodedata.normalize("NFC", text))):
            if name and len(name) <= MAX_NAME:
                found.setdefault(name_key(name), name)
    padded = {key: f" {key} " for key in found}
    return tuple(
        name for key, name in found.items() if not any(padded[key] in padded[other] for other in found if other != key)
    )


def parts(name: str) -> tuple[str, ...]:
    """Return the names that "and" joins in a span, none where it joins none; a title may have an "and" of its own."""
    joined = tuple(part for part in map(str.strip, name.split(" and ")) if part)
    return joined if len(joined) > 1 else ()


def suffixes(text: str) -> tuple[str, ...]:
    """Return what titles of the kinds of thing that a question asks for have in brackets, in order of its words."""
    asked = dict.fromkeys(suffix for word in words(text) for suffix in _BY_WORD.get(word, ()))
    return tuple(asked)[:MAX_SUFFIXES]


def keywords(text: str) -> str:
    """Return the content words of a text, for a search by words: nothing in them can be read as an operator."""
    kept = " ".join(dict.fromkeys(content_words(text)))
    return kept if len(kept) <= _MAX_KEYWORDS else kept[:_MAX_KEYWORDS].rsplit(" ", 1)[0]


def _spans(text: str) -> Iterator[str]:
    yield from _QUOTED.findall(text)
    opening = words(text)[:1]
    for number, span in enumerate(name_spans(_QUOTED.sub(" ", text))):
        is_order = number == 0 and [span.lower()] == opening and span.lower() in _OPENINGS
        if not is_order and any(not word[0].isdigit() and word not in STOP_WORDS for word in words(span)):
            yield span


def _title(span: str) -> str:
    """Return a span as a title could be spelled: without possessive, final marks and characters that no title has."""
    plain = " ".join(_NOT_IN_TITLES.sub(" ", span).split()).rstrip(",;:?!")
    return plain.removesuffix("'s").removesuffix("’s").lstrip(":")
