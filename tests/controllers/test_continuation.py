"""The threshold of the continuation model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.controllers.continuation import best_threshold, fixed_threshold
from evidencegym.data.errors import ConfigError

PAIRS = st.lists(st.tuples(st.sampled_from([-0.5, -0.1, 0.0, 0.2, 0.9]), st.integers(-4, 4)), min_size=1, max_size=12)


def total(threshold: float, predicted: list[float], gained: list[float]) -> float:
    return sum(gain for guess, gain in zip(predicted, gained) if guess > threshold)


@given(PAIRS)
def test_no_threshold_gains_more_and_of_equal_ones_it_is_the_lowest(pairs: list[tuple[float, int]]) -> None:
    predicted, gained = [p for p, _ in pairs], [float(g) for _, g in pairs]
    found = best_threshold(np.array(predicted), np.array(gained))
    candidates = sorted({-1.0, *predicted})
    best = max(total(t, predicted, gained) for t in candidates)
    assert total(found, predicted, gained) == best
    lowest = min(t for t in candidates if total(t, predicted, gained) == best)
    assert [guess > found for guess in predicted] == [guess > lowest for guess in predicted]


def test_a_threshold_by_hand() -> None:
    predicted, gained = np.array([0.3, -0.2, 0.1, 0.5]), np.array([0.4, -0.3, -0.2, 0.1])
    assert best_threshold(predicted, gained) == 0.1
    assert best_threshold(predicted, -gained) == 0.5
    assert best_threshold(predicted, np.ones(4)) < -0.2


def test_thresholds_by_name_or_number() -> None:
    assert fixed_threshold("permissive") == 0.0 and fixed_threshold("fitted") is None and fixed_threshold(-0.3) == -0.3
    for wrong in ("strict", "", float("inf"), float("nan")):
        with pytest.raises(ConfigError, match="permissive, fitted or a finite number"):
            fixed_threshold(wrong)
