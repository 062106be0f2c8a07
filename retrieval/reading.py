"""What rankers and evaluators read in a passage, whatever the question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from ..data.records import Passage
from ..data.text import name_key, name_spans, spaced, subject_of
from .tokens import terms

__all__ = ["Reading", "reading", "subject_of"]


class Reading(NamedTuple):
    """A passage, read once.

    Attributes:
        title: its title.
        terms: index terms of title and text.
        sentences: index terms of each non-empty sentence.
        spoken: each of them as lower-cased words between spaces.
        text: the same of the whole text.
        names: normalised name -> the name as written, and the sentences that mention it.
        subject: the title without what stands in brackets, as lower-cased words between spaces.
        key: the same as names are compared.
        subject_terms: its index terms.
        bracketed: whether the title has something in brackets.
        length: number of index terms.
    """

    title: str
    terms: frozenset[str]
    sentences: tuple[frozenset[str], ...]
    spoken: tuple[str, ...]
    text: str
    names: Mapping[str, tuple[str, tuple[int, ...]]]
    subject: str
    key: str
    subject_terms: frozenset[str]
    bracketed: bool
    length: int


@lru_cache(maxsize=50_000)
def reading(passage: Passage) -> Reading:
    """Read a passage."""
    sentences = [s for s in passage.sentences if s.strip()]
    listed = terms(f"{passage.title} . {passage.text}")
    subject = subject_of(passage.title)
    return Reading(
        title=passage.title,
        terms=frozenset(listed),
        sentences=tuple(frozenset(terms(s)) for s in sentences),
        spoken=tuple(spaced(s) for s in sentences),
        text=spaced(passage.text),
        names=_names(sentences),
        subject=spaced(subject),
        key=name_key(subject),
        subject_terms=frozenset(terms(subject)),
        bracketed=subject != passage.title,
        length=len(listed),
    )


def _names(sentences: list[str]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the names of the sentences; single characters and numbers that are no year are left out."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    for place, sentence in enumerate(sentences):
        for name in name_spans(sentence):
            if len(name) > 1 and (not name.isdigit() or len(name) == 4):
                key = name_key(name)
                written, places = found.get(key, (name, ()))
                found[key] = (written, (*places, place))
    return found
