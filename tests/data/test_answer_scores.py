"""Properties of exact match and token F1, and the rules that they are known for."""

import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.answer_scores import answer_agreement, exact_match, normalise_answer, token_f1, word_overlap

WORDS = st.lists(st.sampled_from(["paris", "rome", "river", "1921", "é", "of"]), max_size=6)
TEXT = st.text(max_size=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Beatles!", "beatles"),
        ("an apple, a day", "apple day"),
        ("U.S.A.", "usa"),
        ("co-founder", "cofounder"),
        ("theatre", "theatre"),
        ("A", ""),
        ("“Zoë’s”", "“zoë’s”"),  # only ASCII punctuation goes
        ("the-end", "theend"),  # punctuation goes before articles
    ],
)
def test_normalise_answer(text: str, expected: str) -> None:
    assert normalise_answer(text) == expected


@given(TEXT)
def test_normalised_text_has_no_capitals_punctuation_or_double_spaces(text: str) -> None:
    normal = normalise_answer(text)
    assert not set(normal) & set(string.punctuation + string.ascii_uppercase)
    assert normal == " ".join(normal.split())


@given(WORDS, WORDS)
def test_word_overlap_is_symmetric_and_one_only_for_equal_multisets(left: list[str], right: list[str]) -> None:
    f1, prec, recall = word_overlap(left, right)
    assert word_overlap(right, left) == (f1, recall, prec)
    assert 0.0 <= f1 <= 1.0
    assert (f1 == 1.0) == (bool(left) and Counter(left) == Counter(right))
    assert min(prec, recall) - 1e-12 <= f1 <= max(prec, recall) + 1e-12


@given(TEXT, st.lists(TEXT, max_size=3))
def test_scores_are_bounded_and_an_exact_match_has_full_f1(prediction: str, answers: list[str]) -> None:
    em, f1 = exact_match(prediction, answers), token_f1(prediction, answers)
    assert em in (0.0, 1.0)
    assert 0.0 <= f1 <= 1.0
    if em:
        assert f1 == 1.0


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_the_best_reference_counts(prediction: str, answers: list[str]) -> None:
    assert token_f1(prediction, answers) == max(token_f1(prediction, [answer]) for answer in answers)
    assert exact_match(prediction, [*answers, prediction]) == 1.0


def test_partial_overlap() -> None:
    assert token_f1("the river Seine in Paris", ["Paris"]) == pytest.approx(0.4)  # one of four words, one of one
    assert exact_match("the river Seine in Paris", ["Paris"]) == 0.0


@pytest.mark.parametrize("verdict", ["yes", "no", "noanswer"])
def test_verdicts_agree_with_nothing_but_themselves(verdict: str) -> None:
    assert token_f1(f"{verdict} indeed", [verdict]) == 0.0
    assert token_f1(verdict, [f"{verdict} indeed"]) == 0.0
    assert token_f1(f"{verdict.title()}.", [verdict]) == 1.0


def test_without_references_only_silence_is_right() -> None:
    assert token_f1("", ()) == exact_match(" The ", ()) == 1.0
    assert token_f1("Paris", ()) == exact_match("Paris", ()) == 0.0


def test_two_empty_texts_match_exactly_without_f1_in_the_official_rule() -> None:
    assert answer_agreement("", "the") == (1.0, 0.0, 0.0, 0.0)
