"""The trace of an episode: for each step the mask, the values, what came back and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..actions.costs import Cost
from ..actions.state import EvidenceState


class Gated(NamedTuple):
    """What a corrective gate did.

    Attributes:
        verdict: correct, ambiguous or incorrect.
        scores: of the passages held before, in [-1, 1].
        discarded: how many passages it discarded.
        sentences: how many sentences it left of those held after it.
    """

    verdict: str
    scores: tuple[float, ...]
    discarded: int
    sentences: int

    def __str__(self) -> str:
        gone = f"{self.discarded} passages discarded, " if self.discarded else ""
        return f"{self.verdict} (best score {max(self.scores):+.2f}); {gone}{self.sentences} sentences kept"


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes:
        operation: name of the operation that ran.
        valid: names of the operations that could have run.
        values: the controller's value of each valid operation; empty where it has none.
        vetoed: names of the valid operations that the controller ruled out itself.
        query: the query that was searched; empty without a search.
        brought: (passage id, title) of each passage that arrived.
        verdict: of a sufficiency check: whether the evidence suffices; None for other operations.
        sufficiency: its probability.
        gap: what it found missing.
        cost: what the step cost.
        failure: why the operation failed; empty where it did not.
        gate: of a corrective gate: verdict, scores, passages discarded, sentences kept; None for other operations.
    """

    operation: str
    valid: tuple[str, ...]
    values: tuple[tuple[str, float], ...]
    vetoed: tuple[str, ...]
    query: str
    brought: tuple[tuple[str, str], ...]
    verdict: bool | None
    sufficiency: float
    gap: str
    cost: Cost
    failure: str = ""
    gate: Gated | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the step as plain values for JSON; ``failure`` and ``gate`` are there only where there was one."""
        plain = asdict(self)
        if not self.failure:
            del plain["failure"]
        if self.gate is None:
            del plain["gate"]
        else:
            plain["gate"] = self.gate._asdict()
        return plain | {"values": dict(self.values), "cost": {k: v for k, v in plain["cost"].items() if v}}


def step_between(
    before: EvidenceState,
    after: EvidenceState,
    names: Sequence[str],
    operation: int,
    mask: NDArray[np.int8],
) -> Step:
    """Return the trace of the step from ``before`` to ``after``, without what a policy thought of it."""
    new = [item for item in after.held if item.passage.id not in before.seen]
    probed = after.probed_version != before.probed_version
    asked = [query for query in after.queries if query not in before.queries]
    asked += [query for query in after.elsewhere if query not in before.elsewhere]
    query = new[0].query if new else (asked[0] if asked else "")
    return Step(
        operation=names[operation],
        valid=tuple(name for name, bit in zip(names, mask) if bit),
        values=(),
        vetoed=(),
        query=query,
        brought=tuple((item.passage.id, item.passage.title) for item in new),
        verdict=after.sufficient if probed else None,
        sufficiency=after.sufficiency if probed else 0.0,
        gap=after.gap if probed else "",
        cost=after.cost - before.cost,
        failure=next((failure.reason for failure in after.failures[len(before.failures) :]), ""),
        gate=_gated(after) if after.gate is not before.gate else None,
    )


def _gated(after: EvidenceState) -> Gated | None:
    gate = after.gate
    if gate is None:
        return None
    return Gated(gate.verdict, gate.scores, gate.discarded, sum(len(sentences) for _, sentences in after.refined))


class Thoughts(Protocol):
    """What a policy thought of a batch of states."""

    @property
    def values(self) -> NDArray[np.float64] | None:
        """(batch, operations) values, nan where invalid; None where the policy has none."""

    @property
    def allowed(self) -> NDArray[np.int8] | None:
        """(batch, operations) the mask less what the policy vetoed; None where it vetoes nothing."""


def explained(step: Step, names: Sequence[str], thoughts: Thoughts, row: int) -> Step:
    """Return the step with the values and vetoes of row ``row``."""
    values, allowed = thoughts.values, thoughts.allowed
    valued = () if values is None else tuple(zip(names, map(float, values[row])))
    open_to = names if allowed is None else [name for name, bit in zip(names, allowed[row]) if bit]
    return replace(
        step,
        values=tuple((name, value) for name, value in valued if name in step.valid),
        vetoed=tuple(name for name in step.valid if name not in open_to),
    )
