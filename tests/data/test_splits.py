"""Splits and folds: stable, seeded, independent of the other records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Gold, Question, Record
from evidencegym.data.splits import fold_of, split

IDS = st.lists(st.text(max_size=6), max_size=30, unique=True)
SHARES = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)


def records(ids: list[str]) -> list[Record]:
    return [Record(Question.of(f"question {key}"), Gold(key, ())) for key in ids]


def fractions(shares: list[int]) -> dict[str, float]:
    return {f"part{i}": share / sum(shares) for i, share in enumerate(shares)}


def test_folds_and_splits_do_not_change_between_versions() -> None:
    assert [fold_of(key, 5, 13) for key in "abcdefgh"] == [1, 1, 3, 2, 2, 1, 4, 4]
    parts = split(records(list("abcdefgh")), {"train": 0.5, "dev": 0.5}, 13)
    assert [record.id for record in parts["train"]] == ["b", "d", "f", "h"]


@given(st.text(), st.integers(1, 20), st.integers())
def test_a_fold_is_in_range(record_id: str, n_folds: int, seed: int) -> None:
    assert 0 <= fold_of(record_id, n_folds, seed) < n_folds


def test_folds_are_even_and_differ_between_seeds() -> None:
    ids = [f"q{i}" for i in range(5_000)]
    first, second = ([fold_of(key, 5, seed) for key in ids] for seed in (0, 1))
    assert all(900 < first.count(fold) < 1_100 for fold in range(5))
    assert 800 < sum(a == b for a, b in zip(first, second)) < 1_200


@given(IDS, SHARES, st.integers())
def test_every_record_is_in_exactly_one_part_in_order(ids: list[str], shares: list[int], seed: int) -> None:
    parts = split(records(ids), fractions(shares), seed)
    assert list(parts) == list(fractions(shares))
    assert sorted(record.id for part in parts.values() for record in part) == sorted(ids)
    for share, part in zip(shares, parts.values()):
        assert [record.id for record in part] == [key for key in ids if key in {record.id for record in part}]
        assert share or not part


@given(IDS, SHARES, st.integers())
def test_other_records_do_not_move_a_record(ids: list[str], shares: list[int], seed: int) -> None:
    part_of = {r.id: name for name, part in split(records(ids), fractions(shares), seed).items() for r in part}
    for key in ids:
        alone = split(records([key]), fractions(shares), seed)
        assert [name for name, part in alone.items() if part] == [part_of[key]]


def test_parts_have_their_shares_and_do_not_follow_the_folds() -> None:
    many = records([f"q{i}" for i in range(5_000)])
    parts = split(many, {"train": 0.8, "dev": 0.1, "test": 0.1}, 7)
    assert abs(len(parts["train"]) - 4_000) < 120
    assert abs(len(parts["dev"]) - 500) < 90
    in_fold = [record for record in parts["train"] if fold_of(record.id, 5, 7) == 0]
    assert abs(len(in_fold) - 800) < 110


def test_records_that_share_an_id_stay_together() -> None:
    twins = records(["same", "same"])
    assert sorted(len(part) for part in split(twins, {"a": 0.5, "b": 0.5}, 3).values()) == [0, 2]


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({}, "at least one part"),
        ({"a": 0.5}, "add up to 1, found 0.5"),
        ({"a": 0.7, "b": 0.7}, "add up to 1"),
        ({"a": -0.5, "b": 1.5}, "'a' must be between 0 and 1, found -0.5"),
        ({"a": float("nan"), "b": 1.0}, "'a' must be between 0 and 1, found nan"),
        ({"a": float("inf")}, "must be between 0 and 1"),
    ],
)
def test_fractions_that_make_no_sense_are_refused(shares: dict[str, float], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        split([], shares, 0)


def test_rounding_in_the_shares_is_tolerated() -> None:
    parts = split(records([f"q{i}" for i in range(200)]), dict.fromkeys("abcdefghij", 0.1), 0)
    assert sum(map(len, parts.values())) == 200


@pytest.mark.parametrize("n_folds", [0, -1])
def test_fewer_than_one_fold_is_refused(n_folds: int) -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        fold_of("a", n_folds, 0)
