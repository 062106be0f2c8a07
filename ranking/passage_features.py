"""The features of a found passage: what tells whether it is support, given what is held."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from ..retrieval.asked import SHAPE, Asked, Sight
from .links import LINK_FEATURES, Links

_STATIC = (
    "overlap",
    "sentence_overlap",
    "subject_in_question",
    "subject_overlap",
    "subject_weight",
    "subject_terms",
    "names_of_question",
    "spoken_names_of_question",
    "length",
    "sentences",
    "bracketed",
)
PASSAGE_FEATURES = (
    "asked",
    "asked_rank",
    "targeted",
    "targeted_rank",
    "promise",
    "searches",
    *_STATIC,
    "new_overlap",
    "new_sentence_overlap",
    "uncovered",
    "namesakes",
    *LINK_FEATURES,
    "subject_asked",
    "subject_held",
    "held",
    "trusted",
    "least_trust",
    *SHAPE,
)
"""Names of a row, in order."""
FOUND_FEATURES = 6
"""How many of them, the first ones, tell what the searches thought; the others depend on question and held passages."""
found_values = attrgetter("asked", "asked_rank", "targeted", "targeted_rank", "promise", "searches")
"""Returns the first ``FOUND_FEATURES`` values of a ``Found``."""


def passage_row(asked: Asked, sight: Sight, links: Links, trust: Sequence[float], namesakes: int) -> list[float]:
    """Return the row of one found passage, behind its first ``FOUND_FEATURES`` values.

    Args:
        asked: the question.
        sight: what the passage shows of it.
        links: what the held passages, the found one not among them, and this one show of each other.
        trust: their scores.
        namesakes: how many passages of the corpus have the same subject.
    """
    new = ~links.covered
    return [
        *sight.static,
        asked.share(sight.terms & new),
        max([asked.share(bits & new) for bits in sight.sentences], default=0.0),
        1.0 - asked.share(links.covered),
        namesakes,
        *links.row(),
        asked.asks(sight.read.key),
        links.subject_held,
        links.held,
        sum(trust),
        min(trust, default=0.0),
        *asked.shape,
    ]
