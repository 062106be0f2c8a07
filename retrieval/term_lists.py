"""The terms of a corpus as numbers, kept in one array."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage
from .tokens import terms
from .vocabulary import Vocabulary


class TermLists(Sequence[list[int]]):
    """One list of term numbers a passage.

    Args:
        numbers: (n,) int32; the lists, one after the other.
        ends: where each list ends in ``numbers``.
    """

    def __init__(self, numbers: NDArray[np.int32], ends: Sequence[int]) -> None:
        self._numbers = numbers
        self._starts = [0, *ends]

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, at: Any) -> Any:
        found: list[int] = self._numbers[self._starts[at] : self._starts[at + 1]].tolist()
        return found


def term_lists(passages: Iterable[Passage], title_weight: int) -> tuple[Vocabulary, TermLists]:
    """Return the vocabulary of the passages and their terms, those of the title ``title_weight`` times."""
    seen: dict[str, int] = {}
    flat = array("i")
    ends: list[int] = []
    for passage in passages:
        found = terms(passage.title) * title_weight + terms(passage.text)
        flat.extend([seen.setdefault(term, len(seen)) for term in found])
        ends.append(len(flat))
    ordered = sorted(seen)
    place = np.empty(len(ordered), np.int32)
    place[[seen[term] for term in ordered]] = np.arange(len(ordered), dtype=np.int32)
    return Vocabulary.of(ordered), TermLists(place[np.frombuffer(flat, np.intc)], ends)
