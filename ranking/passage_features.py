"""The features of a found passage: what tells whether it is support, given what is held."""

from __future__ import annotations

from collections.abc import Sequence

from ..data.records import Passage
from .asked import SHAPE, Asked, Pair
from .reading import reading
from .tasks import Found

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
    "mentioned_by",
    "mentions",
    "mention_share",
    "mention_trust",
    "mention_trusted_share",
    "mention_place",
    "mention_sentence",
    "spoken_of",
    "spoken_trust",
    "back_links",
    "asked_back_links",
    "back_share",
    "back_trust",
    "common_names",
    "common_share",
    "common_trust",
    "common_trusted_share",
    "likeness",
    "subject_asked",
    "subject_held",
    "held",
    "trusted",
    "least_trust",
    *SHAPE,
)
"""Names of a row, in order."""
_FAR = 20.0


def passage_row(
    asked: Asked, found: Found, held: Sequence[Passage], trust: Sequence[float], covered: int, namesakes: int
) -> list[float]:
    """Return the row of one found passage.

    Args:
        asked: the question.
        found: the passage.
        held: the passages held, the found one not among them.
        trust: their scores.
        covered: the question's terms in them, as bits.
        namesakes: how many passages of the corpus have the same subject.
    """
    passage = found.passage
    sight = asked.sight(passage)
    new = ~covered
    return [
        found.asked,
        found.asked_rank,
        found.targeted,
        found.targeted_rank,
        found.promise,
        found.searches,
        *sight.static,
        asked.share(sight.terms & new),
        max([asked.share(bits & new) for bits in sight.sentences], default=0.0),
        1.0 - asked.share(covered),
        namesakes,
        *_linked(asked.pairs(passage, held), trust),
        asked.asks(reading(passage).key),
        max([score for other, score in zip(held, trust) if reading(other).key == reading(passage).key], default=-1.0),
        len(held),
        sum(trust),
        min(trust, default=0.0),
        *asked.shape,
    ]


def _linked(pairs: Sequence[Pair], trust: Sequence[float]) -> list[float]:
    """Return how the held passages mention this one's subject, this one theirs, and what names they have in common."""
    mentioned = [(pair.mention, score, at) for at, (pair, score) in enumerate(zip(pairs, trust)) if pair.mention]
    back = [(pair, score) for pair, score in zip(pairs, trust) if pair.back]
    common = [(pair, score) for pair, score in zip(pairs, trust) if pair.common]
    names = {name for pair, _ in common for name in pair.common}
    return [
        len(mentioned),
        sum([mention.times for mention, _, _ in mentioned]),
        max([mention.share for mention, _, _ in mentioned], default=0.0),
        max([score for _, score, _ in mentioned], default=0.0),
        max([mention.share * score for mention, score, _ in mentioned], default=0.0),
        min([at for _, _, at in mentioned], default=_FAR),
        min([mention.first for mention, _, _ in mentioned], default=_FAR),
        sum([pair.spoken for pair in pairs]),
        max([score for pair, score in zip(pairs, trust) if pair.spoken], default=0.0),
        len(back),
        sum([pair.asked_back for pair, _ in back]),
        max([pair.back_share for pair, _ in back], default=0.0),
        max([score for _, score in back], default=0.0),
        len(names),
        max([pair.common_share for pair, _ in common], default=0.0),
        max([score for _, score in common], default=0.0),
        max([pair.common_share * score for pair, score in common], default=0.0),
        max([pair.likeness for pair in pairs], default=0.0),
    ]
