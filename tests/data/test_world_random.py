"""Properties of the keyed choices on which the synthetic world rests."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.world_random import Assignment, Draws, Permutation

KEYS = st.integers(0, 2**64 - 1)


@given(st.integers(1, 400), KEYS)
def test_a_permutation_is_a_bijection_and_its_inverse_undoes_it(n: int, key: int) -> None:
    permutation = Permutation(n, key)
    images = [permutation(i) for i in range(n)]
    assert sorted(images) == list(range(n))
    assert [permutation.inverse(x) for x in images] == list(range(n))


def test_permutations_of_different_keys_differ() -> None:
    orders = {tuple(Permutation(50, key)(i) for i in range(50)) for key in range(20)}
    assert len(orders) == 20


@given(st.integers(1, 200), st.integers(1, 30), KEYS)
def test_sources_are_exactly_what_is_assigned_and_the_load_is_even(n: int, targets: int, key: int) -> None:
    assignment = Assignment(n, targets, key)
    by_target = Counter(assignment.target(i) for i in range(n))
    for target in range(targets):
        sources = assignment.sources(target)
        assert all(assignment.target(i) == target for i in sources)
        assert len(sources) == by_target[target]
        assert len(sources) in (n // targets, -(-n // targets))


@given(st.lists(KEYS, min_size=1, max_size=4))
def test_draws_depend_on_nothing_but_their_key(key: list[int]) -> None:
    first, second = Draws(*key), Draws(*key)
    assert [first.below(97) for _ in range(300)] == [second.below(97) for _ in range(300)]


def test_draws_are_even_over_many_keys_and_do_not_run_dry() -> None:
    counts = Counter(Draws(key, 1).below(6) for key in range(6000))
    assert all(850 < counts[i] < 1150 for i in range(6))
    late = Draws(5)
    for _ in range(2000):
        late.below(1000)
    assert len({late.below(1000) for _ in range(200)}) > 150


def test_shuffled_keeps_the_items_and_sample_takes_neighbours() -> None:
    draws = Draws(9)
    assert sorted(draws.shuffled(range(20))) == list(range(20))
    taken = draws.sample(range(10), 4)
    assert [(taken[0] + i) % 10 for i in range(4)] == taken
