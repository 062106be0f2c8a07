"""MuSiQue's rules for empty texts, its indifference to yes and no, and the pairs of MuSiQue-Full."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.musique_scores import MuSiQueGold, MuSiQuePrediction, musique_group_scores, musique_scores

ANSWERABLE = MuSiQueGold(("Rome",), frozenset({1, 2}))
UNANSWERABLE = MuSiQueGold(("Rome",), frozenset({1}), answerable=False)


def predicted(answer: str, support: set[int], answerable: bool = True) -> MuSiQuePrediction:
    return MuSiQuePrediction(answer, frozenset(support), answerable)


def test_empty_texts_agree_only_with_empty_texts() -> None:
    gold = MuSiQueGold(("the",), frozenset())
    assert set(musique_scores(predicted("", set()), gold).values()) == {1.0}
    assert musique_scores(predicted("x", {3}), gold) == {
        "answer_em": 0.0,
        "answer_f1": 0.0,
        "support_em": 0.0,
        "support_f1": 0.0,
    }


def test_yes_is_a_word_like_any_other() -> None:
    gold = MuSiQueGold(("yes",), frozenset({1}))
    assert musique_scores(predicted("yes indeed", {1}), gold)["answer_f1"] == pytest.approx(2 / 3)


def test_the_best_alias_counts() -> None:
    gold = MuSiQueGold(("Eternal City", "Rome"), frozenset({1, 2}))
    assert musique_scores(predicted("rome", {1}), gold)["answer_em"] == 1.0


def test_a_missing_prediction_scores_zero_even_where_there_is_nothing_to_find() -> None:
    assert set(musique_scores(None, MuSiQueGold(("the",), frozenset())).values()) == {0.0}


def test_a_pair_scores_as_its_answerable_twin_when_both_verdicts_are_right() -> None:
    pair = [(predicted("old Rome", {1}), ANSWERABLE), (predicted("whatever", {9}, answerable=False), UNANSWERABLE)]
    for twins in permutations(pair):
        scores = musique_group_scores(twins)
        assert scores["group_sufficiency"] == 1.0
        assert scores["group_answer_sufficiency_f1"] == pytest.approx(2 / 3)
        assert scores["group_answer_sufficiency_em"] == scores["group_support_sufficiency_em"] == 0.0
        assert scores["group_support_sufficiency_f1"] == pytest.approx(2 / 3)


@given(st.booleans(), st.booleans())
def test_one_wrong_verdict_costs_the_pair(first: bool, second: bool) -> None:
    twins = [(predicted("Rome", {1, 2}, first), ANSWERABLE), (predicted("", set(), second), UNANSWERABLE)]
    right = first and not second
    assert set(musique_group_scores(twins).values()) == {float(right)}


def test_a_missing_twin_prediction_costs_the_pair() -> None:
    twins = [(predicted("Rome", {1, 2}), ANSWERABLE), (None, UNANSWERABLE)]
    assert set(musique_group_scores(twins).values()) == {0.0}


@pytest.mark.parametrize("golds", [[ANSWERABLE], [UNANSWERABLE, UNANSWERABLE], [ANSWERABLE, ANSWERABLE]])
def test_a_pair_is_one_answerable_and_one_unanswerable(golds: list[MuSiQueGold]) -> None:
    with pytest.raises(ValueError, match="one answerable and one unanswerable"):
        musique_group_scores([(predicted("Rome", {1}), gold) for gold in golds])
