"""The rules of the game: how an episode starts, what a step does, when it ends, and how it is concluded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..data.errors import InvalidOperationError
from ..data.records import Question
from ..generation.tasks import AnswerTask
from .caps import Caps
from .driver import run_all
from .engine import Engine
from .operation import Process
from .operation_set import OperationSet, operation_set
from .state import EvidenceState

ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Rules:
    """What the controller of an episode may do, and within which limits.

    Attributes:
        operations: the operation set.
        caps: the limits.
    """

    operations: OperationSet = field(default_factory=operation_set)
    caps: Caps = field(default=Caps())

    def start(self, question: Question) -> EvidenceState:
        """Return the first state: the question, and no passage."""
        return EvidenceState(question, self.caps)

    def mask(self, state: EvidenceState) -> NDArray[np.int8]:
        """Return (operations,) int8, 1 where an operation may run; never all zero."""
        return self.operations.mask(state)

    def step(self, states: Sequence[EvidenceState], operations: Sequence[int], engine: Engine) -> list[EvidenceState]:
        """Run one operation on each state, in lockstep.

        Raises:
            InvalidOperationError: if an operation is not valid in its state; then none has run.
        """
        processes = [self._process(state, operation) for state, operation in zip(states, operations)]
        outcomes = run_all(processes, engine)
        return [
            self._after(outcome.state.charged(self.operations.names[operation], outcome.cost))
            for outcome, operation in zip(outcomes, operations)
        ]

    def wasted(self, state: EvidenceState, operation: int) -> EvidenceState:
        """Return the state after an invalid operation: nothing changes but the count of steps."""
        return self._after(replace(state, history=(*state.history, f"invalid:{self.operations.names[operation]}")))

    def conclude(self, states: Iterable[EvidenceState], engine: Engine) -> list[EvidenceState]:
        """Compress, where the set holds ``compress``, and answer; a cap never leaves a question unanswered."""
        ended = list(states)
        compressed = self._compressed(ended, engine)
        outcomes = run_all([_answer(state) for state in compressed], engine)
        return [outcome.state.charged(ANSWER, outcome.cost) for outcome in outcomes]

    def _process(self, state: EvidenceState, operation: int) -> Process:
        self.require(state, operation)
        return self._recorded(state, operation)

    def require(self, state: EvidenceState, operation: int) -> None:
        """Check that an operation may run.

        Raises:
            InvalidOperationError: if the set does not hold it, or the mask forbids it.
        """
        if not 0 <= operation < len(self.operations):
            raise InvalidOperationError(f"operation {operation} is not in 0..{len(self.operations) - 1}")
        mask = self.mask(state)
        if not mask[operation]:
            valid = ", ".join(name for name, bit in zip(self.operations.names, mask) if bit)
            raise InvalidOperationError(
                f"{self.operations.names[operation]} is not valid here; valid operations: {valid}"
            )

    def _recorded(self, state: EvidenceState, operation: int) -> Process:
        after = yield from self.operations.operations[operation].run(state)
        return replace(after, history=(*state.history, self.operations.names[operation]))

    def _after(self, state: EvidenceState) -> EvidenceState:
        """Mark an episode that has reached a cap."""
        spent = state.steps >= self.caps.steps or not state.may_retrieve
        return replace(state, end="cap") if spent and not state.end else state

    def _compressed(self, states: list[EvidenceState], engine: Engine) -> list[EvidenceState]:
        names = self.operations.names
        if "compress" not in names or "compress" in self.operations.disabled:
            return [replace(state, snippets=None) for state in states]
        compress = self.operations.operations[names.index("compress")]
        stale = [i for i, s in enumerate(states) if s.held and s.compressed_version != s.evidence_version]
        outcomes = run_all([compress.run(states[i]) for i in stale], engine)
        made = dict(zip(stale, (o.state.charged("compress", o.cost) for o in outcomes)))
        return [made.get(i, state) for i, state in enumerate(states)]


def _answer(state: EvidenceState) -> Process:
    made = yield AnswerTask(state.question.text, state.context, state.snippets or ())
    return replace(state, answer=made)
