"""Targets over several steps, on a decision process that is small enough to solve by hand.

At the beginning ``retrieve_more`` brings 0.3 of the support and ends the episode; ``bridge_entity_expand`` brings
nothing, and done once more it brings everything.
"""

from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from evidencegym.training.fit import FitSettings, action_values, fit_controller
from evidencegym.training.fitted_q import Iteration, fitted_q, q_lambda
from evidencegym.training.forests import out_of_fold, question_folds
from evidencegym.training.returns import Transitions
from evidencegym.training.rows import Row, to_table

OPERATIONS = ("retrieve_more", "bridge_entity_expand", "stop_answer")
RETRIEVE, EXPAND, STOP = range(3)
FEATURES = ("hops", *(f"count_{name}" for name in OPERATIONS))


def at(hops: int) -> NDArray[np.float32]:
    return np.array([hops, 0, hops, 0], np.float32)


def trial(question: int, hops: int, operation: int, after: float, ended: bool, tokens: int) -> Row:
    return Row(
        question_id=f"q{question}",
        episode=0,
        step=hops,
        operation=OPERATIONS[operation],
        chosen=operation == EXPAND,
        support_recall=0.0,
        support_recall_after=after,
        answer_f1=0.5,
        final_f1=0.0,
        ended=ended,
        end_f1=(0.5 if operation == STOP else 0.0) if ended else None,
        new_documents=0,
        cost=(tokens, 0, 0, 0, 0, 0),
        features=at(hops),
        next_features=at(hops + 1),
        next_mask=np.zeros(3, np.int8) if ended else np.ones(3, np.int8),
    )


def process(questions: int = 20) -> pa.Table:
    rows = [
        row
        for q in range(questions)
        for row in (
            trial(q, 0, RETRIEVE, 0.3, True, 0),
            trial(q, 0, EXPAND, 0.0, False, 1000),
            trial(q, 0, STOP, 0.0, True, 0),
            trial(q, 1, RETRIEVE, 0.0, True, 0),
            trial(q, 1, EXPAND, 1.0, True, 1000),
            trial(q, 1, STOP, 0.0, True, 0),
        )
    ]
    return to_table(rows, len(FEATURES), len(OPERATIONS))


def settings(**changed: Any) -> FitSettings:
    given: dict[str, Any] = {"trees": 10, "min_samples_leaf": 1, "max_features": 1.0, "jobs": 1, "continuation": False}
    return FitSettings(**(given | changed))


def first_choice(**changed: Any) -> int:
    controller = fit_controller(process(), FEATURES, OPERATIONS, settings(**changed))
    return int(controller.act(at(0)[None], np.ones((1, 3), np.int8), ["q"])[0])


def test_where_the_first_hop_brings_nothing_only_targets_over_several_steps_take_it() -> None:
    assert first_choice(targets="one_step") == RETRIEVE
    assert first_choice(targets="fitted_q") == EXPAND
    assert first_choice(targets="q_lambda") == EXPAND


@pytest.mark.parametrize(
    ("changed", "values"),
    [
        ({}, [0.3, 1.0, 0.0, 0.0, 1.0, 0.0]),
        ({"discount": 0.5}, [0.3, 0.5, 0.0, 0.0, 1.0, 0.0]),
        ({"cost_weight": 0.1}, [0.3, 0.8, 0.0, 0.0, 0.9, 0.0]),
        ({"answer_weight": 3.0}, [0.3, 1.5, 1.5, 0.0, 1.0, 1.5]),
    ],
)
def test_fitted_q_solves_the_process(changed: dict[str, float], values: list[float]) -> None:
    found = action_values(process(), FEATURES, OPERATIONS, settings(targets="fitted_q", **changed))
    assert found[:6] == pytest.approx(values)
    assert np.array_equal(found, np.tile(found[:6], 20))


@pytest.mark.parametrize(
    ("changed", "choice"),
    [
        ({"discount": 0.25}, RETRIEVE),
        ({"cost_weight": 0.4}, RETRIEVE),
        ({"cost_weight": 0.4, "cost_weights": {"retrievals": 1.0}}, EXPAND),
        ({"answer_weight": 3.0, "cost_weight": 0.1}, STOP),
    ],
)
def test_discount_cost_and_answer_change_the_choice(changed: dict[str, Any], choice: int) -> None:
    assert first_choice(targets="fitted_q", **changed) == choice


def test_without_cost_and_answer_stopping_is_never_worth_more_than_going_on() -> None:
    found = action_values(process(), FEATURES, OPERATIONS, settings(targets="fitted_q")).reshape(-1, 3)
    assert (found[:, STOP] <= found.max(axis=1)).all() and (found[:, STOP] == 0).all()


class _Known:
    """Gives the value of the best operation in each successor, and notes what it was fitted to."""

    def __init__(self, best: list[float]) -> None:
        self.best = np.array(best)
        self.targets: list[list[float]] = []

    def best_next(self, target: NDArray[np.float64]) -> NDArray[np.float64]:
        self.targets.append(target.tolist())
        return self.best


def trajectory() -> Transitions:
    """Return three steps of one episode, the last first, and a row that was tried only."""
    steps, chosen, rewards = [2, 1, 0, 0], [True, True, True, False], [0.25, 0.5, 0.0, 0.1]
    nothing = np.zeros((4, 1), np.float32)
    return Transitions(
        np.array(["q"] * 4),
        np.zeros(4, np.int64),
        np.array(steps),
        np.array(chosen),
        np.zeros(4, np.int64),
        np.array(rewards),
        nothing,
        nothing,
        np.zeros((4, 1), np.int8),
    )


def test_the_returns_of_a_trajectory() -> None:
    known = _Known([0.0, 0.2, 0.4, 0.3])
    found = q_lambda(trajectory(), 0.9, 0.5, cast(Iteration, known))
    # G2 = .25; G1 = .5 + .9 (.1 + .125); G0 = .9 (.2 + .5 * .7025); the row that was tried only: .1 + .9 * .3
    assert found == pytest.approx([0.25, 0.7025, 0.496125, 0.37])
    assert known.targets == [[0.25, 0.5, 0.0, 0.1]]
    whole = q_lambda(trajectory(), 1.0, 1.0, cast(Iteration, known))
    assert whole == pytest.approx([0.25, 0.75, 0.75, 0.4])
    bootstrapped = q_lambda(trajectory(), 1.0, 0.0, cast(Iteration, known))
    assert bootstrapped == pytest.approx([0.25, 0.7, 0.4, 0.4])


def test_fitted_q_iterates_as_often_as_an_episode_has_decisions() -> None:
    known = _Known([0.0, 0.2, 0.4, 0.3])
    found = fitted_q(trajectory(), 0.5, cast(Iteration, known))
    assert found == pytest.approx([0.25, 0.6, 0.2, 0.25])
    assert known.targets == [[0.25, 0.5, 0.0, 0.1], pytest.approx([0.25, 0.6, 0.2, 0.25])]


def test_no_value_comes_from_the_question_itself() -> None:
    names = [f"q{i // 2}" for i in range(40)]
    folds = question_folds(names, 3, 13)
    assert set(folds.tolist()) == {0, 1, 2} and folds[::2].tolist() == folds[1::2].tolist()
    grown: list[NDArray[np.bool_]] = []

    def grow(kept: NDArray[np.bool_]) -> Any:
        grown.append(kept)
        return kept

    def ask(model: Any, asked: NDArray[np.bool_]) -> NDArray[np.float64]:
        assert not {names[i] for i in np.flatnonzero(model)} & {names[i] for i in np.flatnonzero(asked)}
        return folds[asked].astype(np.float64)

    assert out_of_fold(grow, ask, folds, 3).tolist() == folds.tolist()
    assert len(grown) == 3 and np.sum(grown, axis=0).tolist() == [2] * 40
