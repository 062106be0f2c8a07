"""What a ranker is asked, and what it answers: small frozen values, as the generator's tasks are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..data.records import Passage

FAR = 100
"""The rank of a passage that a ranking does not hold."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that searches have brought, with what they thought of it; scores are shares of each search's best.

    Attributes:
        passage: the passage.
        asked: its score in the ranking of the question itself, in [0, 1].
        asked_rank: its rank there, from 0.
        targeted: its best score in any other search, in [0, 1].
        targeted_rank: its best rank there, from 0.
        promise: the largest product of a search's predicted gain and its score there, in [0, 1].
        searches: how many other searches brought it.
    """

    passage: Passage
    asked: float = 0.0
    asked_rank: int = FAR
    targeted: float = 0.0
    targeted_rank: int = FAR
    promise: float = 0.0
    searches: int = 0


@dataclass(frozen=True, slots=True)
class RankTask:
    """Score what was found, and propose what to search for next.

    Attributes:
        question: the question's text.
        pool: the question's key, for retrievers that hold one pool a question.
        held: the passages held, in order of arrival.
        trust: the score that each had when it was taken, in [0, 1].
        found: all passages found, held ones included, in order of first arrival.
        queries: what has been searched for.
    """

    question: str
    pool: str
    held: tuple[Passage, ...]
    trust: tuple[float, ...]
    found: tuple[Found, ...]
    queries: tuple[str, ...]

    def __hash__(self) -> int:
        # Tasks are looked up several times each; these parts tell them apart without hashing everything found.
        return hash((self.question, self.pool, self.held, self.queries, len(self.found)))


class Proposal(NamedTuple):
    """A search that could be made.

    Attributes:
        entity: the name that it is about.
        query: the words to search for.
        gain: predicted probability that it finds support which was not found before, in [0, 1].
    """

    entity: str
    query: str
    gain: float


LEAST_READ = 2
"""How many passages are read for the answer whatever they score: a multi-hop question needs two."""


class Ranking(NamedTuple):
    """What a ranker thinks.

    Attributes:
        scores: for each passage found, the predicted probability of being support, in [0, 1]; a held one is judged by
            the others held.
        proposals: searches that were not made yet, the best first.
        floor: what a passage must score to be read for the answer, in [0, 1]; the ``LEAST_READ`` best are read anyhow.
    """

    scores: tuple[float, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    floor: float = 0.0
