"""A question as rankers and evaluators see it: its terms with their weights, and what each passage shows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..data.records import Passage
from ..data.text import name_key, name_spans, spaced, words
from .reading import Reading, reading
from .tokens import terms

_COMPARING = frozenset(
    "or both same older younger earlier later first longer shorter larger smaller higher more".split()
)
_LINKS = frozenset("of by whose that which who where".split())
_FORMS = ("who", "when", "where", "what", "which", "how")


class Mention(NamedTuple):
    """How a passage mentions a name.

    Attributes:
        name: as written.
        share: share of the question's weight in the best sentence that mentions it.
        times: how often.
        first: the first sentence that does.
    """

    name: str
    share: float
    times: int
    first: int


class Sight(NamedTuple):
    """What a passage shows of a question; sets of the question's terms are bits."""

    read: Reading
    terms: int
    sentences: tuple[int, ...]
    static: tuple[float, ...]


class Weighed(NamedTuple):
    """A name's terms: in order, their weight, and the share of it that the question holds."""

    terms: tuple[str, ...]
    weight: float
    overlap: float


class Asked:
    """A question.

    Args:
        question: its text.
        weight: weight of an index term, in [0, 1].
    """

    def __init__(self, question: str, weight: Callable[[str], float]) -> None:
        self.text = question
        self.spaced = spaced(question)
        self.weight = weight
        self.terms = list(dict.fromkeys(terms(question)))
        self._bit = {term: 1 << place for place, term in enumerate(self.terms)}
        self._weights = [weight(term) for term in self.terms]
        self.mass = sum(self._weights) or 1.0
        self.names = {name_key(name): name for name in name_spans(question)}
        self._spoken_names = [spaced(name) for name in self.names.values()]
        self.shape = self._shape()
        self._shares: dict[int, float] = {}
        self._sights: dict[Passage, Sight] = {}
        self._weighed: dict[str, Weighed] = {}

    def bits(self, found: Iterable[str]) -> int:
        """Return the question's terms among ``found``."""
        return sum(self._bit[term] for term in self._bit.keys() & found)

    def share(self, bits: int) -> float:
        """Return the share of the question's weight that its terms ``bits`` have, in [0, 1]."""
        known = self._shares.get(bits)
        if known is None:
            known = sum(w for place, w in enumerate(self._weights) if bits >> place & 1) / self.mass
            self._shares[bits] = known
        return known

    def rest(self, covered: int) -> list[str]:
        """Return the terms that are not ``covered``, in order."""
        return [term for term in self.terms if not self._bit[term] & covered]

    def sight(self, passage: Passage) -> Sight:
        """Return what a passage shows of the question."""
        known = self._sights.get(passage)
        if known is None:
            known = self._sights[passage] = self._seen(reading(passage))
        return known

    def mentions(self, sight: Sight) -> dict[str, Mention]:
        """Return how a passage mentions each of its names, by normalised name."""
        shares = [self.share(bits) for bits in sight.sentences]
        return {
            key: Mention(name, max(shares[p] for p in places), len(places), places[0])
            for key, (name, places) in sight.read.names.items()
        }

    def weighed(self, name: str) -> Weighed:
        """Return the terms of a name and what they weigh."""
        known = self._weighed.get(name)
        if known is None:
            own = tuple(dict.fromkeys(terms(name)))
            weight, held = self.weigh(own), self.weigh(self._bit.keys() & own)
            known = self._weighed[name] = Weighed(own, weight, held / weight if weight else 0.0)
        return known

    def weigh(self, found: Iterable[str]) -> float:
        """Return the weight of any terms together, summed in their sorted order."""
        return sum(map(self.weight, sorted(found)))

    def _seen(self, read: Reading) -> Sight:
        sentences = tuple(self.bits(s) for s in read.sentences)
        return Sight(read, self.bits(read.terms), sentences, self._static(read, sentences))

    def _static(self, read: Reading, sentences: tuple[int, ...]) -> tuple[float, ...]:
        """What a passage shows whatever is held; named in ``passage_features``."""
        subject, asked = self.weigh(read.subject_terms), self.weigh(read.subject_terms & self._bit.keys())
        return (
            self.share(self.bits(read.terms)),
            max(map(self.share, sentences), default=0.0),
            float(len(read.subject) > 2 and read.subject in self.spaced),
            asked / subject if subject else 0.0,
            subject,
            float(len(read.subject_terms)),
            float(len(self.names.keys() & read.names.keys())),
            float(sum(name in read.text for name in self._spoken_names)),
            float(read.length),
            float(len(sentences)),
            float(read.bracketed),
        )

    def asks(self, name: str) -> bool:
        """Say whether the question holds a normalised name."""
        return f" {name} " in self.spaced

    def _shape(self) -> tuple[float, ...]:
        tokens = words(self.text)
        form = next((t for t in tokens if t in _FORMS or t in ("whom", "whose")), "")
        form = "who" if form in ("whom", "whose") else form
        return (
            float(len(tokens)),
            float(len(self.names)),
            float(sum(t in _LINKS for t in tokens[1:]) + self.text.count("'s ")),
            float(bool(_COMPARING.intersection(tokens))),
            *(float(form == f) for f in _FORMS),
        )


SHAPE = (
    "question_words",
    "question_names",
    "question_links",
    "compares",
    *(f"asks_{form}" for form in _FORMS),
)
"""Names of ``Asked.shape``."""
