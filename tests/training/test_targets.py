"""The paper's one-step targets, recomputed by hand."""

import numpy as np
import pyarrow as pa
import pytest

from evidencegym.actions.costs import COST_NAMES
from evidencegym.data.errors import ConfigError, ManifestMismatchError
from evidencegym.training.rows import Row, check_columns, feature_matrix, list_matrix, to_table
from evidencegym.training.targets import TARGETS, check_targets, one_step


def row(operation: str, before: float, after: float) -> Row:
    return Row(
        question_id="q",
        episode=0,
        step=1,
        operation=operation,
        chosen=True,
        support_recall=before,
        support_recall_after=after,
        answer_f1=0.25,
        final_f1=0.5,
        ended=operation == "stop_answer",
        end_f1=0.25 if operation == "stop_answer" else None,
        new_documents=3,
        cost=(1, 2, 3, 4, 5, 6),
        features=np.array([7, 8], np.float32),
        next_features=np.array([8, 9], np.float32),
        next_mask=np.array([1, 0, 1], np.int8) * (operation != "stop_answer"),
    )


def table(*rows: Row) -> pa.Table:
    return to_table(list(rows), 2, 3)


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
    assert [check_targets(name) for name in TARGETS] == ["one_step", "q_lambda", "fitted_q"]
    with pytest.raises(ConfigError, match="unknown targets 'two_step'; there are: one_step, q_lambda, fitted_q"):
        check_targets("two_step")


def test_a_table_holds_what_the_rows_hold() -> None:
    made = table(row("gap_query", 0.0, 0.5), row("stop_answer", 0.5, 0.5))
    assert made.num_rows == 2 and feature_matrix(made).tolist() == [[7, 8], [7, 8]]
    assert feature_matrix(made).dtype == np.float32
    assert feature_matrix(made, "next_features").tolist() == [[8, 9], [8, 9]]
    assert list_matrix(made, "next_mask").tolist() == [[1, 0, 1], [0, 0, 0]]
    assert made.column("ended").to_pylist() == [False, True] and made.column("end_f1").to_pylist()[1] == 0.25
    assert [made.column(name).to_pylist() for name in COST_NAMES] == [[i, i] for i in (1, 2, 3, 4, 5, 6)]
    assert made.column("operation").to_pylist() == ["gap_query", "stop_answer"]
    assert feature_matrix(made.slice(1)).shape == (1, 2)
    assert table().schema == made.schema and feature_matrix(table()).shape == (0, 2)


def test_rows_of_another_format_are_refused() -> None:
    made = table(row("gap_query", 0.0, 0.5))
    check_columns(made)
    with pytest.raises(ManifestMismatchError, match=r"the rows lack ended, next_mask: .* collect again"):
        check_columns(made.drop_columns(["next_mask", "ended"]))
