"""How much of the question's words, its names left out, a text holds."""

from __future__ import annotations

from itertools import pairwise

from ..retrieval.asked import Asked, Sight
from ..retrieval.tokens import terms
from .view import Parts

OVERLAP = ("plain_mass", "plain_share", "plain_sentence", "plain_best", "plain_title", "plain_pairs")
"""Names of :func:`overlap_row`, in order."""


def overlap_row(asked: Asked, parts: Parts, sight: Sight) -> tuple[float, ...]:
    """Return what the text holds of the terms that are not part of a name."""
    plain = parts.plain
    mass = asked.share(plain)
    held = [share_of(asked, bits, plain) for bits in sight.sentences]
    found = [asked.weight(term) for term in asked.terms if asked.bits((term,)) & plain & sight.terms]
    return (
        mass,
        share_of(asked, sight.terms, plain),
        max(held, default=0.0),
        max(found, default=0.0),
        share_of(asked, asked.bits(sight.read.subject_terms), plain),
        _pairs(parts, sight),
    )


def share_of(asked: Asked, bits: int, among: int) -> float:
    """Return the share of the weight of the terms ``among`` that those in ``bits`` have, in [0, 1]; 0 of nothing."""
    whole = asked.share(among)
    return asked.share(bits & among) / whole if whole else 0.0


def _pairs(parts: Parts, sight: Sight) -> float:
    """Return the share of the neighbouring terms of the question that are neighbours in the text."""
    if not parts.pairs:
        return 0.0
    telling = [spoken for spoken, bits in zip(sight.read.spoken, sight.sentences) if bits.bit_count() > 1]
    found = {pair for spoken in telling for pair in pairwise(terms(spoken))}
    return len(parts.pairs & found) / len(parts.pairs)
