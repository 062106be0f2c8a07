"""Entities of a corpus by kind, to put one in the place of another."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .records import Passage, content_hash
from .text import name_spans, words

_MONTHS = frozenset("january february march april may june july august september october november december".split())
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_LONGEST = 3


def kind_of(name: str) -> str:
    """Return the kind that a name is by its form: year, number, date, or name of one, two, or three and more words."""
    plain = name.strip()
    if _YEAR.fullmatch(plain):
        return "year"
    if plain and all(part.replace(",", "").replace(".", "").isdigit() for part in plain.split()):
        return "number"
    parts = words(plain)
    if len(parts) > 1 and _MONTHS & set(parts) and all(part.isdigit() or part in _MONTHS for part in parts):
        return "date"
    return f"name of {min(len(plain.split()), _LONGEST)}"


class Replacements:
    """The names that stand in passages, by kind.

    Args:
        passages: the corpus; titles and the capitalised spans and numbers of its sentences are taken.
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        kinds: dict[str, set[str]] = {}
        for passage in passages:
            for sentence in passage.sentences:
                for name in name_spans(sentence):
                    kinds.setdefault(kind_of(name), set()).add(name)
        self._kinds = {kind: sorted(names) for kind, names in kinds.items()}

    def other(self, name: str, not_in: str, key: str) -> str:
        """Return another name of the same kind that stands nowhere in a text; empty if there is none.

        Args:
            name: what is to be replaced.
            not_in: a text, such as the question with its answers; case is ignored.
            key: the same key gives the same choice.
        """
        names = self._kinds.get(kind_of(name), [])
        forbidden = f"{name}\n{not_in}".casefold()
        start = int(content_hash("replacement", key), 16)
        turned = (names[(start + step) % len(names)] for step in range(len(names)))
        return next((other for other in turned if other.casefold() not in forbidden), "")
