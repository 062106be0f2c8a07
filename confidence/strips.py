"""Knowledge strips: a document cut into units of a few sentences (CRAG, 2401.15884, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..data.records import Passage


class Strip(NamedTuple):
    """A knowledge strip.

    Attributes:
        document: the passage that it was cut from.
        sentences: indices of its sentences there, in order.
        text: the strip as a passage of its own, with the document's title, for an evaluator to score.
    """

    document: Passage
    sentences: tuple[int, ...]
    text: Passage


def strips_of(document: Passage, sentences: int = 2) -> tuple[Strip, ...]:
    """Cut a document into strips, in order; empty sentences belong to none.

    A document of one or two sentences stays whole, whatever ``sentences`` is; a longer one is cut into units of
    ``sentences``, the last of which may be shorter.
    """
    filled = [index for index, sentence in enumerate(document.sentences) if sentence.strip()]
    size = sentences if len(filled) > 2 else 2
    groups = (tuple(filled[first : first + size]) for first in range(0, len(filled), size))
    return tuple(Strip(document, group, _text(document, group)) for group in groups)


def cut(document: Passage, sentences: Iterable[int]) -> Passage:
    """Return the document with every other sentence emptied; id and indices stay, so support can still be named."""
    named = frozenset(sentences)
    return Passage(
        document.id,
        document.title,
        tuple([sentence if index in named else "" for index, sentence in enumerate(document.sentences)]),
    )


def _text(document: Passage, sentences: tuple[int, ...]) -> Passage:
    return Passage.of(document.title, [document.sentences[index] for index in sentences])
