"""Operation sets: named, ordered presets whose order defines the action ids, and the mask over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.errors import ConfigError, InvalidOperationError
from .bridge_entity_expand import BridgeEntityExpand
from .compress import Compress
from .corrective_gate import CorrectiveGate
from .gap_query import GapQuery
from .gate_settings import GateSettings
from .operation import Operation
from .retrieve_more import RetrieveMore
from .rewrite_query import RewriteQuery
from .state import EvidenceState
from .stop_answer import StopAnswer
from .sufficiency_check import SufficiencyCheck

GATE = "corrective_gate"
_PAPER = (
    "retrieve_more",
    "gap_query",
    "bridge_entity_expand",
    "rewrite_query",
    "sufficiency_check",
    "stop_answer",
    "compress",
)
PRESETS: dict[str, tuple[str, ...]] = {"paper": _PAPER, "with_gate": (*_PAPER, GATE)}


def names_of(operations: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of a preset, or those given.

    Raises:
        ConfigError: if there is no such preset.
    """
    if not isinstance(operations, str):
        return tuple(operations)
    if operations not in PRESETS:
        raise ConfigError(
            f"unknown operation set {operations!r}; presets: {', '.join(PRESETS)}; or give a list of names"
        )
    return PRESETS[operations]


class OperationSet:
    """An ordered set of operations; the place of an operation is its action id.

    Args:
        operations: the operations, ``stop_answer`` among them.
        disabled: names that the mask leaves out (``stop_answer`` stays valid where nothing else is).

    Raises:
        ConfigError: if a name is unknown or repeated, or ``stop_answer`` is missing.
    """

    def __init__(self, operations: Sequence[Operation], disabled: Sequence[str] = ()) -> None:
        self.operations = tuple(operations)
        self.names = tuple(operation.name for operation in self.operations)
        self.disabled = frozenset(disabled)
        if len(set(self.names)) != len(self.names):
            raise ConfigError(f"an operation set must not repeat an operation, found {', '.join(self.names)}")
        if "stop_answer" not in self.names:
            raise ConfigError(f"an operation set needs stop_answer, found {', '.join(self.names) or 'no operation'}")
        unknown = sorted(self.disabled - set(self.names))
        if unknown:
            raise ConfigError(f"cannot disable {', '.join(unknown)}: the set holds {', '.join(self.names)}")
        self.stop = self.names.index("stop_answer")

    def __len__(self) -> int:
        return len(self.operations)

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def mask(self, state: EvidenceState) -> NDArray[np.int8]:
        """Return (operations,) int8, 1 where an operation may run; never all zero: stopping is the last resort.

        What failed may not run again before the evidence has changed.
        """
        if state.end:
            valid = [False] * len(self)
        else:
            valid = [op.name not in self.disabled and op.valid(state) for op in self.operations]
            if state.failures:
                valid = [bit and not state.barred(name) for bit, name in zip(valid, self.names)]
        if not any(valid):
            valid[self.stop] = True
        return np.array(valid, np.int8)

    def id_of(self, name: str) -> int:
        """Return the action id of an operation.

        Raises:
            InvalidOperationError: if the set does not hold it.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise InvalidOperationError(
                f"unknown operation {name!r}; this operation set holds {', '.join(self.names)}"
            ) from None


def operation_set(
    operations: str | Sequence[str] = "paper",
    *,
    disabled: Sequence[str] = (),
    deduplicate_titles: bool = False,
    ranked: bool = False,
    closed_book: bool = False,
    compress_in_control: bool = False,
    max_snippets: int = 8,
    max_tokens: int = 256,
    gate: GateSettings | Mapping[str, Any] | None = None,
    compress_strips: bool = False,
) -> OperationSet:
    """Build an operation set from a preset's name or a list of operation names.

    Args:
        operations: a name in ``PRESETS``, or names of operations in the order of their action ids.
        disabled: names that the mask leaves out.
        deduplicate_titles: retrievals also leave out passages whose title is held (the paper's rule).
        ranked: retrievals let the engine's ranker choose passages, entity and query.
        closed_book: ``stop_answer`` is valid before there is evidence.
        compress_in_control: a controller may pick ``compress``, once.
        max_snippets: most snippets that ``compress`` keeps.
        max_tokens: most tokens that ``compress`` keeps.
        gate: settings of ``corrective_gate``, or what a manifest holds of them.
        compress_strips: ``compress`` keeps the strips that the evaluator scores best, made and filtered as the gate's.

    Raises:
        ConfigError: if a name is unknown or repeated, or ``stop_answer`` is missing.
    """
    names = names_of(operations)
    gating = gate if isinstance(gate, GateSettings) else GateSettings.of(gate)
    known: dict[str, Operation] = {
        op.name: op
        for op in (
            RetrieveMore(deduplicate_titles, ranked),
            GapQuery(deduplicate_titles, ranked),
            BridgeEntityExpand(deduplicate_titles, ranked),
            RewriteQuery(deduplicate_titles, ranked),
            SufficiencyCheck(),
            StopAnswer(closed_book),
            Compress(compress_in_control, max_snippets, max_tokens, gating.refinement if compress_strips else None),
            CorrectiveGate(gating, ranked),
        )
    }
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(f"unknown operation {', '.join(map(repr, unknown))}; operations: {', '.join(known)}")
    return OperationSet([known[name] for name in names], disabled)
