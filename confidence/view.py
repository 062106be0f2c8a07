"""A task as the features see it: the question in its names and other words, the texts, and what stands beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from ..data.records import Passage
from ..data.text import normalise_title
from ..retrieval.asked import Asked, Sight
from ..retrieval.tokens import terms
from .base import EvaluateTask

Titles = Callable[[str], int]


class Parts:
    """The terms of a question, those of its names apart from the others; sets of terms are bits.

    Args:
        asked: the question.

    Attributes:
        names: terms of its names.
        plain: the other ones.
        each_name: terms of each name.
        pairs: neighbouring terms that do not both belong to names.
    """

    def __init__(self, asked: Asked) -> None:
        self.each_name = [bits for name in asked.names.values() if (bits := asked.bits(terms(name)))]
        self.names = 0
        for bits in self.each_name:
            self.names |= bits
        self.plain = asked.bits(asked.terms) & ~self.names
        beside = [(first, second) for first, second in pairwise(terms(asked.text)) if first != second]
        self.pairs = frozenset(pair for pair in beside if asked.bits(pair) & self.plain)


@dataclass(slots=True)
class Neighbour:
    """The texts of one title, as another text sees them.

    Attributes:
        subject: the title without brackets, as lower-cased words between spaces.
        key: the same as names are compared.
        asked: whether the question holds it.
        bits: the question's terms in the texts and the title.
        text: all of it as words between spaces.
        spoken: each sentence in the same form, with the question's terms in it.
        shares: share of the question's weight in the best sentence that mentions each name.
    """

    subject: str
    key: str
    asked: bool
    bits: int = 0
    text: str = ""
    spoken: list[tuple[str, int]] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)

    def add(self, asked: Asked, sight: Sight) -> None:
        """Enter a text."""
        self.bits |= sight.terms
        self.text += sight.read.text
        self.spoken += zip(sight.read.spoken, sight.sentences)
        for name, mention in asked.mentions(sight).items():
            self.shares[name] = max(self.shares.get(name, 0.0), mention.share)


class View:
    """A task, read.

    Texts of one title (a document and its strips) are one neighbour, so that it does not count how evidence is cut, and
    a text is never its own neighbour.

    Args:
        asked: the question.
        task: the texts, and the rest of the evidence.
        titles: how many passages of the corpus are about a name.

    Attributes:
        sights: what each text shows of the question.
        neighbours: by normalised title, in the order of the evidence.
    """

    def __init__(self, asked: Asked, task: EvaluateTask, titles: Titles) -> None:
        self.asked = asked
        self.titles = titles
        self.parts = Parts(asked)
        self.own = [normalise_title(text.title) for text in task.texts]
        self.sights = [asked.sight(text) for text in task.texts]
        self.neighbours = _neighbours(asked, (*task.texts, *task.beside))

    def others(self, title: str) -> list[Neighbour]:
        """Return the neighbours with another title."""
        return [neighbour for other, neighbour in self.neighbours.items() if other != title]


def _neighbours(asked: Asked, passages: Iterable[Passage]) -> dict[str, Neighbour]:
    made: dict[str, Neighbour] = {}
    for passage in dict.fromkeys(passages):
        sight = asked.sight(passage)
        read = sight.read
        key = normalise_title(passage.title)
        if key not in made:
            made[key] = Neighbour(read.subject, read.key, len(read.subject) > 2 and read.subject in asked.spaced)
        made[key].add(asked, sight)
    return made
