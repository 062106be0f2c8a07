"""The dead-operation report: which operations the learned controller leaves unused, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..analysis import Analysis, Row
from .protocols import TITLES

RARE = 0.01
"""Share of the decisions where an operation is valid below which its choice counts as rare."""
_CONCLUDING = {"stop_answer", "compress"}
_FOLLOWING_A_CHECK = {"stop_answer", "gap_query"}


@dataclass
class OperationUse:
    """How one operation fared over the decisions of a method.

    Attributes:
        valid: decisions at which it could run.
        vetoed: of these, decisions at which the controller ruled it out itself.
        chosen: of these, decisions that took it.
        brought: its runs that brought a new passage.
        helped: its runs that brought a supporting document; of a check, those that ``gap_query`` or stopping followed.
        gains: support recall gained by its runs in all.
        margins: for each decision that did not take it, the best value less its own.
    """

    valid: int = 0
    vetoed: int = 0
    chosen: int = 0
    brought: int = 0
    helped: int = 0
    gains: float = 0.0
    margins: list[float] = field(default_factory=list)

    def reason(self, name: str) -> str:
        """Return why it is dead, or "alive"."""
        if not self.valid:
            return "never valid"
        if not self.chosen:
            return f"never chosen{self._why()}"
        if self.chosen < RARE * self.valid:
            return f"rarely chosen{self._why()}"
        if name not in _CONCLUDING and not self.helped:
            return "chosen, but brings nothing"
        return "alive"

    def _why(self) -> str:
        if self.vetoed == self.valid:
            return ": always vetoed"
        return ": valued below another" if self.margins else ""


def operation_use(results: Iterable[Mapping[str, Any]], operations: Sequence[str]) -> dict[str, OperationUse]:
    """Return the use of each operation over the traces of a method."""
    uses = {name: OperationUse() for name in operations}
    for result in results:
        wanted, held = set(result.get("gold", {}).get("support", ())), set[str]()
        steps = result["steps"]
        for place, step in enumerate(steps):
            following = steps[place + 1]["operation"] if place + 1 < len(steps) else ""
            _note(uses, step, wanted, held, following)
    return uses


def _note(
    uses: Mapping[str, OperationUse], step: Mapping[str, Any], wanted: set[str], held: set[str], following: str
) -> None:
    """Enter one step; ``held`` is what of ``wanted`` is held, and is kept up to date."""
    name, values = step["operation"], step["values"]
    best = max(values.values(), default=0.0)
    for valid in step["valid"]:
        use = uses[valid]
        use.valid += 1
        use.vetoed += valid in step["vetoed"]
        if valid != name and valid in values:
            use.margins.append(best - values[valid])
    lost = len(held) if step.get("gate", {}).get("discarded") else 0
    if lost:
        held.clear()
    found = ({part for passage in step["brought"] for part in passage} & wanted) - held
    held |= found
    use = uses[name]
    use.chosen += 1
    use.brought += bool(step["brought"])
    use.helped += bool(found) or (name == "sufficiency_check" and following in _FOLLOWING_A_CHECK)
    use.gains += (len(found) - lost) / len(wanted) if wanted else 0.0


def operation_table(protocol: str, uses: Mapping[str, OperationUse], questions: int) -> Analysis:
    """Return the report of one protocol."""
    rows = [_row(name, use, questions) for name, use in uses.items() if name != "compress"]
    columns = [("operation", "operation"), ("valid", "decisions where valid"), ("vetoed", "vetoed there")]
    columns += [("chosen", "chosen there"), ("runs", "runs a question"), ("brought", "runs with a new passage")]
    columns += [("helped", "runs that helped"), ("gain", "support recall a run"), ("margin", "mean margin")]
    columns.append(("reason", "verdict"))
    asks = (
        f"Which operations are dead, and why? Shares over the learned controller's decisions on {questions} questions. "
        "A run helped if it brought a supporting document; a check, if gap_query or stopping followed it. The margin "
        "is what its value lay below the best where it was not taken. Never valid: the mask never offered it. Never "
        "chosen: offered, but another was valued more, or it was vetoed. Rarely: below "
        f"{RARE:.0%} of the decisions that offered it."
    )
    return Analysis(f"operations_{protocol}", f"{TITLES[protocol].capitalize()}: dead operations", asks, columns, rows)


def _row(name: str, use: OperationUse, questions: int) -> Row:
    return {
        "operation": name,
        "valid": use.valid,
        "vetoed": _share(use.vetoed, use.valid),
        "chosen": _share(use.chosen, use.valid),
        "runs": _share(use.chosen, questions),
        "brought": _share(use.brought, use.chosen),
        "helped": None if name in _CONCLUDING else _share(use.helped, use.chosen),
        "gain": None if name in _CONCLUDING else _share(use.gains, use.chosen),
        "margin": sum(use.margins) / len(use.margins) if use.margins else None,
        "reason": use.reason(name),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
