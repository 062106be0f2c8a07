"""Numbers of terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidencegym.data.errors import ManifestMismatchError
from evidencegym.retrieval import vocabulary as module
from evidencegym.retrieval.tokens import terms
from evidencegym.retrieval.vocabulary import Vocabulary


@given(st.sets(st.text(alphabet="abcé東 z1", min_size=1)), st.text(alphabet="abcé東 z1'"))
def test_numbers_are_places_in_the_sorted_terms(known: set[str], text: str) -> None:
    places = {found: place for place, found in enumerate(sorted(known))}
    vocabulary = Vocabulary.of(known)
    assert len(vocabulary) == len(known)
    expected = [places[found] for found in terms(text) if found in places]
    assert vocabulary.ids(text) == expected
    assert vocabulary.ids(text) == expected  # the second time from memory


def test_a_prefix_of_a_term_is_unknown() -> None:
    vocabulary = Vocabulary.of(["film", "filmed", "fi"])
    assert vocabulary.ids("fil filme filmeds zzz 0 fi filmed film") == [0, 2, 1]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_KNOWN", 10)
    vocabulary = Vocabulary.of(["w3", "w77"])
    assert [vocabulary.ids(f"w{i}") for i in range(100)] == [
        [0] if i == 3 else [1] if i == 77 else [] for i in range(100)
    ]
    assert len(vocabulary._known) <= 12


@pytest.mark.parametrize("ends", [[3], [2, 2], [4, 2], [0, 4], [5]])
def test_ends_that_do_not_fit_are_refused(ends: list[int]) -> None:
    with pytest.raises(ManifestMismatchError, match="vocabulary"):
        Vocabulary(b"a\nb\n", np.array(ends, np.int64))
