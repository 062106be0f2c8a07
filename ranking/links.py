"""What the held passages and a found one show of each other, kept up as passages are taken."""

from __future__ import annotations

from math import inf

from ..retrieval.asked import Asked, Mention, Sight
from .mentions import Taken

LINK_FEATURES = (
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
)
"""Names of ``Links.row``, in order."""
_FAR = 20.0


class Links:
    """How the held passages mention a found one's subject, it theirs, and which names they have in common.

    Attributes:
        covered: the question's terms in the held passages, as bits.
        subject_held: score of a held passage with the same subject, -1 where none is.
        held: how many passages have been entered; the found one itself is never one of them.
    """

    def __init__(self) -> None:
        self.covered = 0
        self.subject_held = -1.0
        self.held = 0
        self._mentioned_by = self._mentions = 0
        self._mention_share = self._mention_trust = self._mention_trusted = 0.0
        self._mention_place = self._mention_sentence = inf
        self._spoken = 0
        self._spoken_trust = 0.0
        self._back = self._asked_back = 0
        self._back_share = self._back_trust = 0.0
        self._names: frozenset[str] = frozenset()
        self._common_share = self._common_trust = self._common_trusted = 0.0
        self._likeness = 0.0

    def copy(self) -> Links:
        """Return another one with the same passages entered."""
        made = object.__new__(Links)
        made.__dict__.update(self.__dict__)
        return made

    def enter(self, asked: Asked, own: Sight, other: Taken) -> None:
        """Enter a held passage after those entered before.

        Args:
            asked: the question.
            own: the found passage.
            other: the held one.
        """
        read, against, score = own.read, other.sight.read, other.score
        both = len(read.terms & against.terms)
        likeness = both / max(1, len(read.terms) + len(against.terms) - both)
        self._likeness = max(self._likeness, likeness)
        if read.key == against.key:
            self.subject_held = max(self.subject_held, score)
        if read.key in other.mentions:
            self._enter_mention(other.mentions[read.key], score)
        if read.subject in against.text and len(read.subject) > 3:
            self._spoken += 1
            self._spoken_trust = max(self._spoken_trust, score)
        if against.subject in read.text and len(against.subject) > 3 and against.subject != read.subject:
            self._enter_back(asked, own, against.subject, score)
        if not read.names.keys().isdisjoint(against.names):
            self._enter_common(asked, own, other)
        self.covered |= other.sight.terms
        self.held += 1

    def _enter_mention(self, mention: Mention, score: float) -> None:
        """The held passage mentions the found one's subject."""
        self._mentioned_by += 1
        self._mentions += mention.times
        self._mention_share = max(self._mention_share, mention.share)
        self._mention_trust = max(self._mention_trust, score)
        self._mention_trusted = max(self._mention_trusted, mention.share * score)
        self._mention_place = min(self._mention_place, self.held)
        self._mention_sentence = min(self._mention_sentence, mention.first)

    def _enter_back(self, asked: Asked, own: Sight, subject: str, score: float) -> None:
        """The found passage speaks of the held one's subject."""
        shares = [asked.share(bits) for bits, spoken in zip(own.sentences, own.read.spoken) if subject in spoken]
        self._back += 1
        self._asked_back += subject in asked.spaced
        self._back_share = max(self._back_share, max(shares, default=0.0))
        self._back_trust = max(self._back_trust, score)

    def _enter_common(self, asked: Asked, own: Sight, other: Taken) -> None:
        """Both mention names; those count that the question does not hold and that are not the found one's subject."""
        key = own.read.key
        shared = own.read.names.keys() & other.mentions.keys()
        common = frozenset(name for name in shared if name != key and not asked.asks(name))
        if not common:
            return
        share = max(other.mentions[name].share for name in common)
        self._names |= common
        self._common_share = max(self._common_share, share)
        self._common_trust = max(self._common_trust, other.score)
        self._common_trusted = max(self._common_trusted, share * other.score)

    def row(self) -> tuple[float, ...]:
        """Return what the passages entered amount to, named in ``LINK_FEATURES``."""
        return (
            self._mentioned_by,
            self._mentions,
            self._mention_share,
            self._mention_trust,
            self._mention_trusted,
            self._mention_place if self._mentioned_by else _FAR,
            self._mention_sentence if self._mentioned_by else _FAR,
            self._spoken,
            self._spoken_trust,
            self._back,
            self._asked_back,
            self._back_share,
            self._back_trust,
            len(self._names),
            self._common_share,
            self._common_trust,
            self._common_trusted,
            self._likeness,
        )
