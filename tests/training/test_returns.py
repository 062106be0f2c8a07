"""The return of an episode and the rewards of rows, computed by hand."""

import numpy as np
import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.training.returns import Return, rewards, transitions
from tests.training.test_targets import row, table

NAMES = ("gap_query", "stop_answer", "compress")


def test_rewards_are_gains_less_cost_and_the_worth_of_the_answer() -> None:
    rows = table(row("gap_query", 0.25, 0.75), row("stop_answer", 0.75, 0.75), row("compress", 0.5, 0.5))
    assert rewards(rows, Return()).tolist() == [0.5, 0.0, 0.0]
    # Each row cost 1 + 2 tokens, 3 generator calls and 5 retrievals.
    dear = Return(cost_weight=0.1, cost_weights={"prompt_tokens": 100.0, "retrievals": 2.0}, answer_weight=2.0)
    assert rewards(rows, dear) == pytest.approx([0.5 - 1.01, -1.01 + 2 * 0.25, -1.01])
    assert dear.reward(0.5, {"prompt_tokens": 1, "retrievals": 5}, None) == pytest.approx(0.5 - 1.01)
    assert dear.reward(0.0, {}, 0.25) == 0.5


def test_the_return_is_discounted() -> None:
    assert Return(discount=0.5).of([1.0, 0.5, 0.25]) == 1.3125
    assert Return().of([0.25, 0.5]) == 0.75 and Return(discount=0.0).of([0.25, 0.5]) == 0.25
    assert Return().of([]) == 0.0


def test_rows_are_read_as_transitions() -> None:
    rows = table(row("stop_answer", 0.5, 0.5), row("gap_query", 0.5, 1.0)._replace(step=3, chosen=False))
    moves = transitions(rows, NAMES, Return())
    assert moves.operations.tolist() == [1, 0] and moves.horizon == 4
    assert moves.chosen.tolist() == [True, False]
    assert moves.next_mask.tolist() == [[0, 0, 0], [1, 0, 1]]
    assert np.array_equal(moves.next_features, np.array([[8, 9], [8, 9]], np.float32))
    assert transitions(table(), NAMES, Return()).horizon == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"discount": 2.0}, r"the discount must be in \[0, 1\], found 2.0"),
        ({"cost_weight": -1.0}, "finite and not negative, found {'cost_weight': -1.0}"),
        ({"answer_weight": float("nan")}, "answer_weight"),
        ({"cost_weights": {"retrievals": -1.0}}, "retrievals"),
        ({"cost_weights": {"coffee": 1.0}}, "unknown kind of cost coffee"),
    ],
)
def test_numbers_out_of_range_are_refused(changed: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Return(**changed)  # type: ignore[arg-type]
