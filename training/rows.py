"""The rows that collection writes: one for each valid operation of each visited state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..actions.costs import COST_NAMES
from ..data.errors import ManifestMismatchError

ROW_FORMAT = 2
"""Noted in the manifest of a collection, so that one with other columns is refused."""


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
        ended: whether the episode is over in s'.
        end_f1: token F1 of the answer in s' where it is over, else None.
        new_documents: passages that the operation brought.
        cost: what it cost, in the order of ``COST_NAMES``.
        features: (features,) float32 of s.
        next_features: (features,) float32 of s'.
        next_mask: (operations,) int8, what may run in s'; all zero where the episode is over.
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
    ended: bool
    end_f1: float | None
    new_documents: int
    cost: tuple[int, ...]
    features: NDArray[np.float32]
    next_features: NDArray[np.float32]
    next_mask: NDArray[np.int8]


_SCALARS = Row._fields[: Row._fields.index("cost")]


def schema(n_features: int, n_operations: int) -> pa.Schema:
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
            ("ended", pa.bool_()),
            ("end_f1", pa.float64()),
            ("new_documents", pa.int16()),
            *((name, pa.int64()) for name in COST_NAMES),
            ("features", pa.list_(pa.float32(), n_features)),
            ("next_features", pa.list_(pa.float32(), n_features)),
            ("next_mask", pa.list_(pa.int8(), n_operations)),
        ]
    )


def to_table(rows: list[Row], n_features: int, n_operations: int) -> pa.Table:
    """Return the rows as a table, in their order."""
    columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in _SCALARS}
    columns |= {name: [row.cost[i] for row in rows] for i, name in enumerate(COST_NAMES)}
    columns["features"] = _lists([row.features for row in rows], n_features, np.float32)
    columns["next_features"] = _lists([row.next_features for row in rows], n_features, np.float32)
    columns["next_mask"] = _lists([row.next_mask for row in rows], n_operations, np.int8)
    return pa.table(columns, schema=schema(n_features, n_operations))


def _lists(vectors: list[NDArray[Any]], width: int, kind: type[np.generic]) -> pa.Array:
    flat = np.concatenate(vectors) if vectors else np.zeros(0, kind)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat.astype(kind, copy=False)), width)


def feature_matrix(table: pa.Table, name: str = "features") -> NDArray[np.float32]:
    """Return (rows, features) float32: ``features`` or ``next_features``."""
    return np.asarray(list_matrix(table, name), np.float32)


def list_matrix(table: pa.Table, name: str) -> NDArray[Any]:
    """Return (rows, width) of a column of lists."""
    column = table.column(name).combine_chunks()
    width = table.schema.field(name).type.list_size
    return np.asarray(column.flatten().to_numpy(zero_copy_only=False)).reshape(-1, width)


def check_columns(table: pa.Table) -> None:
    """Check that a table holds every column of a row.

    Raises:
        ManifestMismatchError: if one is missing, as in rows of an earlier format.
    """
    wanted = [*_SCALARS, *COST_NAMES, "features", "next_features", "next_mask"]
    if lacking := [name for name in wanted if name not in table.column_names]:
        raise ManifestMismatchError(f"the rows lack {', '.join(lacking)}: they are of another format; collect again")
