"""Targets of the action values: named choices."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..data.errors import ConfigError

ONE_STEP = "one_step"
Q_LAMBDA = "q_lambda"
FITTED_Q = "fitted_q"
TARGETS: dict[str, str] = {
    ONE_STEP: "the paper's: what the operation brings at once",
    Q_LAMBDA: "multi-step returns over the trajectories that were followed",
    FITTED_Q: "fitted Q iteration over every operation that was tried",
}


def one_step(rows: pa.Table) -> NDArray[np.float64]:
    """Return the paper's targets, (rows,) in [-1, 1].

    Acquisition operations: SR(s') - SR(s). ``sufficiency_check``: 1 if SR(s) = 1, else 0. ``stop_answer``: SR(s).
    ``compress`` (0 here) has no target in the paper, which never lets a controller pick it.
    """
    operation = np.asarray(rows.column("operation").to_pylist(), dtype=object)
    before = np.asarray(rows.column("support_recall").to_numpy(), np.float64)
    after = np.asarray(rows.column("support_recall_after").to_numpy(), np.float64)
    targets: NDArray[np.float64] = after - before
    targets = np.where(operation == "sufficiency_check", (before == 1.0).astype(np.float64), targets)
    return np.where(operation == "stop_answer", before, targets)


def check_targets(name: str) -> str:
    """Return the name of some targets.

    Raises:
        ConfigError: if there are none of that name.
    """
    if name not in TARGETS:
        raise ConfigError(f"unknown targets {name!r}; there are: {', '.join(TARGETS)}")
    return name
