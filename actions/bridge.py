"""Bridge entities: names in the evidence that the question does not mention and that no held passage is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

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
def _keys(passage: Passage) -> tuple[tuple[str, str], ...]:
    """Pair each name of a passage with its normalised form, leaving out bare numbers and single letters."""
    return tuple(
        (name, normalise_title(name)) for name in passage_names(passage) if len(name) > 1 and not name.isdigit()
    )


def bridge_candidates(question: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the bridge entities of ``passages``, ordered by passage and then by position.

    A name is left out when the question holds it, when a held passage has it as its title, or when it is a bare number.

    Args:
        question: the question's text.
        passages: held passages, best rank first.
    """
    asked = spaced(question)
    titles = {normalise_title(p.title) for p in passages}
    found: dict[str, str] = {}
    for passage in passages:
        for name, key in _keys(passage):
            if key not in found and key not in titles and spaced(name) not in asked:
                found[key] = name
    return tuple(found.values())


def first_unexpanded(candidates: Iterable[str], expanded: Iterable[str]) -> str:
    """Return the first candidate that has not been expanded, or an empty string."""
    done = {normalise_title(name) for name in expanded}
    return next((name for name in candidates if normalise_title(name) not in done), "")
