"""Support recall by title and by passage id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.records import Gold, Passage
from evidencegym.data.support_scores import support_recall, supports_held, supports_total

SEINE, RHINE, NAMESAKE = (
    Passage.of("Seine", ["A river."]),
    Passage.of("Rhine", ["Another river."]),
    Passage.of("Seine", ["A department."]),
)


def test_by_title_any_passage_with_the_title_counts_and_counts_once() -> None:
    gold = Gold("q", ("x",), support_titles=("Seine", "Rhine"))
    assert supports_held(gold, [NAMESAKE]) == supports_held(gold, [SEINE, NAMESAKE]) == 1
    assert support_recall(gold, [NAMESAKE, RHINE]) == 1.0


def test_by_id_a_namesake_does_not_count() -> None:
    gold = Gold("q", ("x",), support_ids=(SEINE.id, RHINE.id), support_titles=("Seine",), match_support_by="id")
    assert support_recall(gold, [NAMESAKE]) == 0.0
    assert support_recall(gold, [SEINE]) == 0.5


def test_titles_are_compared_with_their_case() -> None:
    assert support_recall(Gold("q", ("x",), support_titles=("seine",)), [SEINE]) == 0.0


@pytest.mark.parametrize("match", ["title", "id"])
def test_with_nothing_to_find_nothing_is_missing(match: str) -> None:
    gold = Gold("q", (), match_support_by=match)
    assert supports_total(gold) == 0
    assert support_recall(gold, [SEINE]) == support_recall(gold, []) == 1.0


@given(st.lists(st.sampled_from("abcdef"), min_size=1), st.lists(st.sampled_from("abcdefgh")))
def test_recall_counts_distinct_titles_and_only_grows(wanted: list[str], held: list[str]) -> None:
    gold = Gold("q", ("x",), support_titles=tuple(wanted))
    passages = [Passage.of(title, [title]) for title in held]
    recalls = [support_recall(gold, passages[:count]) for count in range(len(passages) + 1)]
    assert recalls == sorted(recalls)
    assert recalls[-1] == len(set(wanted) & set(held)) / len(set(wanted))
