"""What an operation is: a rule that says when it may run, and a coroutine that yields requests and returns a state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from ..confidence.base import EvaluateTask
from ..generation.tasks import AnswerTask, CompressTask, JudgeTask, RewriteTask
from ..ranking.tasks import RankTask
from ..retrieval.base import Hit, Search
from ..retrieval.external import ExternalSearch
from .pool import TARGETED_DEPTH, chosen, pooled, rank_task, subjects
from .state import EvidenceState

Request = Search | ExternalSearch | EvaluateTask | RankTask | AnswerTask | JudgeTask | RewriteTask | CompressTask
Process = Generator[Request, Any, EvidenceState]


class Operation(ABC):
    """An atomic operation on the evidence state; it does no I/O.

    Attributes:
        name: the operation's name, as the paper spells it.
        retrieves: whether it searches the corpus.
    """

    name: ClassVar[str]
    retrieves: ClassVar[bool] = False

    @abstractmethod
    def valid(self, state: EvidenceState) -> bool:
        """Say whether it may run; a rule on the state alone, without any model."""

    @abstractmethod
    def run(self, state: EvidenceState) -> Process:
        """Yield what it needs from outside, receive the responses, and return the next state."""


class Retrieval(Operation):
    """An operation that searches and adds the best unseen passages.

    Args:
        deduplicate_titles: also leave out passages whose title is held already. The paper does so; here it is off by
            default, since gold passages of MuSiQue may share a title.
        ranked: let the engine's ranker choose among everything that this and earlier searches have found.
    """

    retrieves: ClassVar[bool] = True

    def __init__(self, deduplicate_titles: bool = False, ranked: bool = False) -> None:
        self.deduplicate_titles = deduplicate_titles
        self.ranked = ranked

    def request(self, state: EvidenceState, query: str, title: str = "") -> Search:
        """Return a search deep enough to hold as many unseen passages as there is room for, or to fill the pool."""
        if self.ranked:
            return Search(query, TARGETED_DEPTH, "", state.question.key, subjects(state), targeted=True)
        return Search(query, state.room + len(state.seen), title, state.question.key, targeted=True)

    def collected(
        self, state: EvidenceState, query: str, hits: Sequence[Hit], asked: bool = False, gain: float = 0.5
    ) -> Process:
        """Return the state with the best unseen passages added: the best hits, or the best of the ranked pool.

        Args:
            state: the state that the search was made in.
            query: what was searched for.
            hits: what it found.
            asked: whether the question itself was searched for.
            gain: what the search was predicted to bring.
        """
        if not self.ranked:
            return self.received(state, query, hits)
        found = pooled(state.found, hits, asked, gain)
        ranking = yield rank_task(state, found, query)
        after = self.received(state, query, chosen(found, ranking.scores))
        exhausted = state.question.text in after.queries and len(after.seen) >= len(found)
        after = after.changed(found=found, frontier_exhausted=exhausted)
        ranking = yield rank_task(after)
        return after.changed(ranking=ranking)

    def received(self, state: EvidenceState, query: str, hits: Sequence[Hit]) -> EvidenceState:
        """Return the state with the best unseen hits added."""
        return state.received(self.name, query, state.unseen(hits, self.deduplicate_titles))
