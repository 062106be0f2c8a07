"""Bridge entities: names in the evidence that the question does not mention and that no held passage is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat

from ..data.records import Passage
from ..data.text import name_spans, normalise_title, spaced

# "Oslo in 1950" is a place and a date, not a name.
_DATED = re.compile(r" (?:in|on|for|to|of|and) (?:[A-Z]\w+ )?\d.*$")


@lru_cache(maxsize=100_000)
def passage_names(passage: Passage) -> tuple[str, ...]:
    """Return the names in a passage's sentences, in order of first mention, without repetition."""
    found: dict[str, str] = {}
    for sentence in passage.sentences:
        for span in name_spans(sentence):
            name = _DATED.sub("", span)
            found.setdefault(normalise_title(name), name)
    return tuple(found.values())


@lru_cache(maxsize=100_000)
def _new_names(question: str, passage: Passage) -> dict[str, str]:
    """Return the names of a passage, by normalised form, that are no bare number or letter and not in the question."""
    asked = spaced(question)
    names = [name for name in passage_names(passage) if len(name) > 1 and not name.isdigit()]
    return {normalise_title(name): name for name in names if spaced(name) not in asked}


@lru_cache(maxsize=100_000)
def _title_key(passage: Passage) -> str:
    return normalise_title(passage.title)


@lru_cache(maxsize=20_000)
def _name_key(name: str) -> str:
    return normalise_title(name)


def bridge_candidates(question: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the bridge entities of ``passages``, ordered by passage and then by position.

    A name is left out when the question holds it, when a held passage has it as its title, or when it is a bare number.

    Args:
        question: the question's text.
        passages: held passages, best rank first.
    """
    found: dict[str, str] = {}
    for names in map(_new_names, repeat(question), passages):
        for key, name in names.items():
            if key not in found:
                found[key] = name
    for title in map(_title_key, passages):
        found.pop(title, None)
    return tuple(found.values())


def first_unexpanded(candidates: Iterable[str], expanded: Iterable[str]) -> str:
    """Return the first candidate that has not been expanded, or an empty string."""
    done = set(map(_name_key, expanded))
    for name in candidates:
        if not done or _name_key(name) not in done:
            return name
    return ""
