"""Targets of the action values: named choices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..data.errors import ConfigError

Targets = Callable[[pa.Table], NDArray[np.float64]]


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


TARGETS: dict[str, Targets] = {"one_step": one_step}


def targets(name: str) -> Targets:
    """Return the targets of that name.

    Raises:
        ConfigError: if there are none.
    """
    if name not in TARGETS:
        raise ConfigError(f"unknown targets {name!r}; there are: {', '.join(TARGETS)}")
    return TARGETS[name]
