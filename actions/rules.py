"""The rules of the game: how an episode starts, what a step does, when it ends, and how it is concluded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..data.errors import InvalidOperationError, RequestFailedError
from ..data.records import Question
from ..generation.tasks import Answer, AnswerTask
from .caps import Caps
from .driver import Exchange, complete, drive, metered
from .engine import Engine
from .operation import Process
from .operation_set import OperationSet, operation_set
from .state import EvidenceState

ANSWER = "answer"
COMPRESS = "compress"


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

    def step(
        self, states: Sequence[EvidenceState], operations: Sequence[int], engine: Engine, checked: bool = False
    ) -> list[EvidenceState]:
        """Run one operation on each state, in lockstep.

        Args:
            states: running states.
            operations: an operation for each.
            engine: executes their requests.
            checked: the caller has looked every operation up in its state's mask, so they are not checked again.

        Raises:
            InvalidOperationError: if an operation is not valid in its state; then none has run.
        """
        if not checked:
            for state, operation in zip(states, operations):
                self.require(state, operation)
        steps = [self.stepping(state, operation) for state, operation in zip(states, operations)]
        return [complete(step, engine) for step in steps] if len(steps) == 1 else drive(steps, engine)

    def stepping(self, state: EvidenceState, operation: int) -> Exchange[EvidenceState]:
        """Return the step of one operation, for a driver to carry out; the operation is not checked.

        An operation that fails is a step like any other: it is charged, and the state says that it failed.
        """
        name = self.operations.names[operation]
        outcome = yield from metered(_guarded(self.operations.operations[operation].run(state), state, name))
        after = outcome.state.ran(name, outcome.cost)
        if len(after.failures) > len(state.failures) and self.operations.operations[operation].retrieves:
            after = after.changed(retrievals=state.retrievals + outcome.cost.retrievals, newest=0)
        return self._after(after)

    def wasted(self, state: EvidenceState, operation: int) -> EvidenceState:
        """Return the state after an invalid operation: nothing changes but the count of steps."""
        return self._after(state.changed(history=(*state.history, f"invalid:{self.operations.names[operation]}")))

    def conclude(self, states: Iterable[EvidenceState], engine: Engine) -> list[EvidenceState]:
        """Compress, where the set holds ``compress``, and answer; a cap never leaves a question unanswered.

        Without a compression that succeeds what is read of the context is read whole; where the answer fails it is
        empty.
        """
        return drive([self.concluding(state) for state in states], engine)

    def concluding(self, state: EvidenceState) -> Exchange[EvidenceState]:
        """Return the conclusion of one state, for a driver to carry out."""
        compressed = yield from self._compressed(state)
        outcome = yield from metered(_answer(compressed))
        return outcome.state.charged(ANSWER, outcome.cost)

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

    def _after(self, state: EvidenceState) -> EvidenceState:
        """Mark an episode that has reached a cap."""
        spent = state.steps >= self.caps.steps or not state.may_retrieve
        return state.changed(end="cap") if spent and not state.end else state

    def _compressed(self, state: EvidenceState) -> Exchange[EvidenceState]:
        names = self.operations.names
        if COMPRESS not in names or COMPRESS in self.operations.disabled or state.barred(COMPRESS):
            return state.changed(snippets=None)
        if not state.held or state.compressed_version == state.evidence_version:
            return state
        compress = self.operations.operations[names.index(COMPRESS)]
        outcome = yield from metered(_guarded(compress.run(state), state.changed(snippets=None), COMPRESS))
        return outcome.state.charged(COMPRESS, outcome.cost)


def _guarded(process: Process, before: EvidenceState, name: str) -> Process:
    """Run a process; where a request of it fails, return the state before it, the failure noted."""
    try:
        return (yield from process)
    except RequestFailedError as error:
        return before.failed(name, str(error))


def _answer(state: EvidenceState) -> Process:
    try:
        made = yield AnswerTask(state.question.text, state.reading, state.snippets or ())
    except RequestFailedError as error:
        return state.failed(ANSWER, str(error)).changed(answer=Answer(""))
    return state.changed(answer=made)
