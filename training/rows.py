"""The rows that collection writes: one for each valid operation of each visited state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..actions.costs import COST_NAMES


class Row(NamedTuple):
    """One operation tried from one state.

    Attributes:
        question_id: the data set's id.
        episode: number of the behaviour episode.
        step: decisions made before, from 0.
        operation: name of the operation tried.
        chosen: whether the behaviour policy went on with it.
        support_recall: SR(s).
        support_recall_after: SR(s').
        answer_f1: token F1 of stopping at s.
        final_f1: token F1 at the end of the behaviour episode.
        new_documents: passages that the operation brought.
        cost: what it cost, in the order of ``COST_NAMES``.
        features: (features,) float32 of s.
    """

    question_id: str
    episode: int
    step: int
    operation: str
    chosen: bool
    support_recall: float
    support_recall_after: float
    answer_f1: float
    final_f1: float
    new_documents: int
    cost: tuple[int, ...]
    features: NDArray[np.float32]


def schema(n_features: int) -> pa.Schema:
    """Return the schema of a part."""
    return pa.schema(
        [
            ("question_id", pa.string()),
            ("episode", pa.int16()),
            ("step", pa.int16()),
            ("operation", pa.string()),
            ("chosen", pa.bool_()),
            ("support_recall", pa.float64()),
            ("support_recall_after", pa.float64()),
            ("answer_f1", pa.float64()),
            ("final_f1", pa.float64()),
            ("new_documents", pa.int16()),
            *((name, pa.int64()) for name in COST_NAMES),
            ("features", pa.list_(pa.float32(), n_features)),
        ]
    )


def to_table(rows: list[Row], n_features: int) -> pa.Table:
    """Return the rows as a table, in their order."""
    columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in Row._fields[:-2]}
    costs = {name: [row.cost[i] for row in rows] for i, name in enumerate(COST_NAMES)}
    flat = np.concatenate([row.features for row in rows]) if rows else np.zeros(0, np.float32)
    features = pa.FixedSizeListArray.from_arrays(pa.array(flat, pa.float32()), n_features)
    return pa.table(columns | costs | {"features": features}, schema=schema(n_features))


def feature_matrix(table: pa.Table) -> NDArray[np.float32]:
    """Return (rows, features) float32."""
    column = table.column("features").combine_chunks()
    n_features = table.schema.field("features").type.list_size
    flat: NDArray[np.float32] = np.asarray(column.flatten().to_numpy(zero_copy_only=False), np.float32)
    return flat.reshape(-1, n_features)
