"""The compiled search."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evidencegym.data.errors import ManifestMismatchError
from evidencegym.retrieval import postings as module
from evidencegym.retrieval.postings import Postings


def _random(seed: int, passages: int, words: int, levels: int) -> tuple[Postings, NDArray[np.float32]]:
    """Postings with few distinct impacts, so that ties abound, and the same as a dense table."""
    random = np.random.default_rng(seed)
    table = random.integers(0, levels, (words, passages)).astype(np.float32) * np.float32(0.5)
    table[random.random(table.shape) < 0.5] = 0
    word, number = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(word, minlength=words))])
    return Postings(table[word, number], number, starts, passages), table


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 40),
    st.integers(1, 4),
    st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=5),
    st.integers(1, 45),
)
def test_best_are_those_of_a_full_sort(seed: int, passages: int, levels: int, queries: list[list[int]], k: int) -> None:
    postings, table = _random(seed, passages, 6, levels)
    for query, (numbers, scores) in zip(queries, postings.best(queries, k), strict=True):
        totals = table[query].sum(axis=0, dtype=np.float32)
        order = np.lexsort((np.arange(passages), -totals))
        expected = [int(n) for n in order if totals[n] > 0][:k]
        assert numbers == expected
        assert scores == totals[expected].tolist()


def test_large_batches_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    postings, _ = _random(3, 20, 6, 3)
    queries = [[i % 6, (i * i) % 6] for i in range(50)]
    whole = list(postings.best(queries, 7))
    monkeypatch.setattr(module, "_FOUND_AT_ONCE", 20)
    assert list(postings.best(queries, 7)) == whole


def test_threads_do_not_share_scratch_arrays() -> None:
    postings, _ = _random(5, 3_000, 6, 4)
    queries = [[i % 6, (i * i) % 6, (i + 3) % 6] for i in range(300)]
    expected = list(postings.best(queries, 5))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: next(iter(postings.best([query], 5))), queries))
    assert found == expected


_SOUND = {"impacts": [1.0, 2.0, 3.0], "numbers": [0, 1, 1], "starts": [0, 2, 3]}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("numbers", [0, 1, 2]),
        ("numbers", [0, -1, 1]),
        ("numbers", [0, 1]),
        ("impacts", [1.0, 0.0, 3.0]),
        ("impacts", [1.0, -2.0, 3.0]),
        ("impacts", [1.0, float("nan"), 3.0]),
        ("impacts", [1.0, float("inf"), 3.0]),
        ("starts", [0, 4, 3]),
        ("starts", [0, 2, 4]),
        ("starts", [1, 2, 3]),
        ("starts", [0, -1, 3]),
        ("starts", []),
    ],
)
def test_arrays_that_must_not_be_followed_are_refused(name: str, values: list[float]) -> None:
    Postings(**{key: np.array(value) for key, value in _SOUND.items()}, passages=2)
    damaged = {key: np.array(value) for key, value in {**_SOUND, name: values}.items()}
    with pytest.raises(ManifestMismatchError, match="damaged"):
        Postings(**damaged, passages=2)
