"""RougeL against values of the package rouge-score, and the subsequence against its definition."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.confidence.rouge import common_subsequence, rouge_l

WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("The quick brown dog jumps on the log.", "The quick brown fox jumps over the lazy dog", 0.5882352941),
        ("police killed the gunman", "the gunman killed police", 0.5),
        ("police killed the gunman", "police kill the gunman", 0.75),
        ("Kelmar", "Kelmar", 1.0),
        ("It rises in the Hald Mountains.", "HALD-mountains", 0.5),
        ("", "x", 0.0),
        ("x", "…", 0.0),
    ],
)
def test_values_of_the_package(text: str, reference: str, expected: float) -> None:
    assert rouge_l(text, reference) == pytest.approx(expected)


@given(WORDS, WORDS)
def test_the_subsequence_is_the_longest(first: list[str], second: list[str]) -> None:
    common = subsequences(first) & subsequences(second)
    assert common_subsequence(first, second) == max(map(len, common))


def subsequences(tokens: list[str]) -> set[tuple[str, ...]]:
    return {chosen for size in range(len(tokens) + 1) for chosen in itertools.combinations(tokens, size)}
