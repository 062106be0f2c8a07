"""The few rules of text that everything shares: words, sentences, and mentions of names."""

from __future__ import annotations

import re
from functools import lru_cache

STOP_WORDS = frozenset(
    "a an the of in on at to for from by with and or but is are was were be been being do does did has have had "
    "who whom whose which what when where why how that this these those it its as into than then also both same "
    "between during he she his her him they their them i we you your our my me not no yes there here if so such".split()
)

_WORD = re.compile(r"\w+(?:['’]\w+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Gen|Col|Lt|Capt|Rev|Gov|Sen|Rep|vs|No|Vol|Inc|Ltd|Co|Corp|etc|ca|c|cf)"
    r"|\b(?:e\.g|i\.e)|\b[A-Z])\.$"
)
_CAPITALISED = r"(?:[A-Z0-9][\w'’.\-&]*|[^\W\d_a-z][\w'’.\-]*)"
_PARTICLE = r"(?:of|the|and|de|da|di|du|van|von|der|den|la|le|el|al|in|for|on|to|a|&)"
_NAME = re.compile(rf"{_CAPITALISED}(?:[ ](?:{_PARTICLE}[ ]){{0,2}}{_CAPITALISED})*")


def words(text: str) -> list[str]:
    """Return the lower-cased words of ``text``, in order."""
    return [w.lower() for w in _WORD.findall(text)]


@lru_cache(maxsize=100_000)
def spaced(text: str) -> str:
    """Return the words of ``text`` between single spaces, so that a phrase in a text is a substring of it."""
    return f" {' '.join(words(text))} "


def content_words(text: str) -> list[str]:
    """Return the lower-cased words that are not stop words, in order."""
    return [w for w in words(text) if w not in STOP_WORDS]


def split_sentences(text: str) -> tuple[str, ...]:
    """Cut plain text into sentences; common abbreviations and initials do not end one."""
    pieces: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        candidate = text[start : match.end()].strip()
        if _ABBREVIATION.search(candidate):
            continue
        pieces.append(candidate)
        start = match.end()
    tail = text[start:].strip()
    return (*pieces, tail) if tail else tuple(pieces)


@lru_cache(maxsize=200_000)
def name_spans(sentence: str) -> tuple[str, ...]:
    """Return the capitalised spans and numbers of a sentence, in order, repetitions kept.

    Lower-case particles ("of", "the", "von") may stand inside a span, never at its end. A stop word that merely
    starts the sentence is dropped.
    """
    spans: list[str] = []
    for match in _NAME.finditer(sentence):
        span = match.group().rstrip(".,-'’")
        while " " in span and (span[0].islower() or span.split(" ", 1)[0].lower() in STOP_WORDS):
            span = span.split(" ", 1)[1]
        if span and not span[0].islower() and span.lower() not in STOP_WORDS:
            spans.append(span)
    return tuple(spans)


def subject_of(title: str) -> str:
    """Return a title without what stands in brackets at its end."""
    return title.split(" (", maxsplit=1)[0]


def name_key(name: str) -> str:
    """Return a name as names are compared: case folded, spaces collapsed, without "the" at its beginning.

    Spans of names drop that article, since a sentence may begin with it; titles keep it.
    """
    key = normalise_title(name)
    return key.removeprefix("the ") or key


def normalise_title(title: str) -> str:
    """Return a title with case folded and spaces collapsed, for look-ups by title."""
    return " ".join(title.casefold().split())
