"""What an operation is: a rule that says when it may run, and a coroutine that yields requests and returns a state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from ..generation.tasks import AnswerTask, CompressTask, JudgeTask, RewriteTask
from ..retrieval.base import Hit, Search
from .state import EvidenceState

Request = Search | AnswerTask | JudgeTask | RewriteTask | CompressTask
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
    """

    retrieves: ClassVar[bool] = True

    def __init__(self, deduplicate_titles: bool = False) -> None:
        self.deduplicate_titles = deduplicate_titles

    def request(self, state: EvidenceState, query: str, title: str = "") -> Search:
        """Return a search deep enough to hold as many unseen passages as there is room for."""
        return Search(query, state.room + len(state.seen), title, state.question.key)

    def received(self, state: EvidenceState, query: str, hits: Sequence[Hit]) -> EvidenceState:
        """Return the state with the best unseen hits added."""
        return state.received(self.name, query, state.unseen(hits, self.deduplicate_titles))
