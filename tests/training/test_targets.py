"""The paper's one-step targets, recomputed by hand."""

import numpy as np
import pyarrow as pa
import pytest

from evidencegym.actions.costs import COST_NAMES
from evidencegym.data.errors import ConfigError
from evidencegym.training.rows import Row, feature_matrix, to_table
from evidencegym.training.targets import TARGETS, one_step, targets


def row(operation: str, before: float, after: float) -> Row:
    return Row(
        "q", 0, 1, operation, True, before, after, 0.25, 0.5, 3, (1, 2, 3, 4, 5, 6), np.array([7, 8], np.float32)
    )


def table(*rows: Row) -> pa.Table:
    return to_table(list(rows), 2)


@pytest.mark.parametrize(
    ("operation", "before", "after", "target"),
    [
        ("retrieve_more", 0.5, 0.75, 0.25),
        ("gap_query", 0.0, 1.0, 1.0),
        ("bridge_entity_expand", 0.5, 0.5, 0.0),
        ("rewrite_query", 1.0, 0.5, -0.5),
        ("sufficiency_check", 1.0, 1.0, 1.0),
        ("sufficiency_check", 0.75, 0.75, 0.0),
        ("sufficiency_check", 0.0, 0.0, 0.0),
        ("stop_answer", 0.75, 0.75, 0.75),
        ("stop_answer", 0.0, 0.0, 0.0),
        ("compress", 0.5, 0.5, 0.0),
    ],
)
def test_the_target_of_one_row(operation: str, before: float, after: float, target: float) -> None:
    assert one_step(table(row(operation, before, after))).tolist() == [target]


def test_rows_keep_their_order() -> None:
    rows = [row("stop_answer", 0.5, 0.5), row("retrieve_more", 0.5, 1.0), row("sufficiency_check", 1.0, 1.0)]
    assert one_step(table(*rows)).tolist() == [0.5, 0.5, 1.0]
    assert one_step(table()).shape == (0,)


def test_targets_are_chosen_by_name() -> None:
    assert targets("one_step") is TARGETS["one_step"]
    with pytest.raises(ConfigError, match="unknown targets 'two_step'; there are: one_step"):
        targets("two_step")


def test_a_table_holds_what_the_rows_hold() -> None:
    made = table(row("gap_query", 0.0, 0.5), row("stop_answer", 0.5, 0.5))
    assert made.num_rows == 2 and feature_matrix(made).tolist() == [[7, 8], [7, 8]]
    assert feature_matrix(made).dtype == np.float32
    assert [made.column(name).to_pylist() for name in COST_NAMES] == [[i, i] for i in (1, 2, 3, 4, 5, 6)]
    assert made.column("operation").to_pylist() == ["gap_query", "stop_answer"]
    assert feature_matrix(made.slice(1)).shape == (1, 2)
    assert table().schema == made.schema and feature_matrix(table()).shape == (0, 2)
