"""The shape of a relation's wording in questions."""

from __future__ import annotations

from typing import NamedTuple


class Asking(NamedTuple):
    """The wording of one relation in questions; in both parts ``{}`` stands for what is asked about.

    Attributes:
        nouns: descriptions of what the relation leads to, which can be nested; empty where it leads to no entity.
        asks: questions.
    """

    nouns: tuple[str, ...]
    asks: tuple[str, ...]
