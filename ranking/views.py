"""What a question and a set of held passages make of found passages and of searches, each worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ..data.records import Passage
from ..retrieval.asked import Asked
from ..retrieval.reading import subject_of
from .links import Links
from .mentions import Mentions, Taken, asked_for, with_passage
from .passage_features import FOUND_FEATURES, PASSAGE_FEATURES, passage_row
from .proposal_features import PROPOSAL_FEATURES, STATE_FEATURES, Offers, offers

Titles = Callable[[str], int]
_VIEWS = 8
_PASSAGE_WIDTH = len(PASSAGE_FEATURES) - FOUND_FEATURES
_SEARCH_WIDTH = len(PROPOSAL_FEATURES) - STATE_FEATURES


class View:
    """A question and held passages.

    Args:
        asked: the question.
        titles: how many passages of the corpus are about a name.
        before: the view of the first held passages; None for that of no passage.
        last: the held passages after them.
        scores: their scores.
    """

    def __init__(
        self,
        asked: Asked,
        titles: Titles,
        before: View | None = None,
        last: Sequence[Passage] = (),
        scores: Sequence[float] = (),
    ) -> None:
        self.asked = asked
        self._titles = titles
        self._before = before
        self._last = [self._taken(passage, score) for passage, score in zip(last, scores)]
        self.trust: tuple[float, ...] = (*(before.trust if before else ()), *scores)
        self.held: dict[str, int] = dict(before.held) if before else {}
        self.known: Mentions = before.known if before else asked_for(asked)
        for taken in self._last:
            self.known = with_passage(asked, self.known, taken, len(self.held))
            self.held[taken.id] = len(self.held)
        self._links: dict[str, Links] = {}
        self._places: dict[str, int] = {}
        self._rows = np.zeros((0, _PASSAGE_WIDTH), np.float32)
        self._offers: tuple[Offers, NDArray[np.float32]] | None = None

    def passages(self, found: Sequence[Passage]) -> NDArray[np.float32]:
        """Return (found, features behind the first ones); a held one is seen as if the others alone were held."""
        new = [passage for passage in found if passage.id not in self._places]
        if new:
            made = _matrix(map(self._row, new), len(new), _PASSAGE_WIDTH)
            self._places |= zip([passage.id for passage in new], range(len(self._rows), len(self._rows) + len(new)))
            self._rows = np.concatenate([self._rows, made])
        return self._rows[[self._places[passage.id] for passage in found]]

    def searches(self) -> tuple[Offers, NDArray[np.float32]]:
        """Return the searches, made or not, and their features without the last ones."""
        if self._offers is None:
            made = offers(self.asked, self.known, self._titles)
            self._offers = made, _matrix(made.rows, len(made.rows), _SEARCH_WIDTH)
        return self._offers

    def _row(self, passage: Passage) -> list[float]:
        place = self.held.get(passage.id)
        trust = self.trust if place is None else self.trust[:place] + self.trust[place + 1 :]
        namesakes = self._titles(subject_of(passage.title))
        return passage_row(self.asked, self.asked.sight(passage), self.links(passage), trust, namesakes)

    def links(self, passage: Passage) -> Links:
        """Return what the held passages and another one show of each other."""
        known = self._links.get(passage.id)
        if known is None:
            known = self._links[passage.id] = self._linked(passage)
        return known

    def _linked(self, passage: Passage) -> Links:
        if self._before is None:
            return Links()
        made = self._before.links(passage).copy()
        sight = self.asked.sight(passage)
        for taken in self._last:
            if taken.id != passage.id:
                made.enter(self.asked, sight, taken)
        return made

    def _taken(self, passage: Passage, score: float) -> Taken:
        sight = self.asked.sight(passage)
        return Taken(passage.id, sight, self.asked.mentions(sight), score)


class Views:
    """The views of one question that were used last; each grows out of one that holds fewer passages.

    Args:
        asked: the question.
        titles: how many passages of the corpus are about a name.
    """

    def __init__(self, asked: Asked, titles: Titles) -> None:
        self.asked = asked
        self._none = View(asked, titles)
        self._titles = titles
        self._views: dict[tuple[tuple[Passage, ...], tuple[float, ...]], View] = {}

    def of(self, held: tuple[Passage, ...], trust: tuple[float, ...]) -> View:
        """Return the view of held passages with their scores."""
        known = self._views.pop((held, trust), None) or self._grown(held, trust)
        if held:
            self._views[held, trust] = known
            while len(self._views) > _VIEWS:
                del self._views[next(iter(self._views))]
        return known

    def _grown(self, held: tuple[Passage, ...], trust: tuple[float, ...]) -> View:
        """Return a new view, from the largest part of it that is known."""
        lengths = range(len(held) - 1, 0, -1)
        parts = ((n, self._views.get((held[:n], trust[:n]))) for n in lengths)
        length, view = next(((n, known) for n, known in parts if known), (0, self._none))
        return View(self.asked, self._titles, view, held[length:], trust[length:]) if held else view


def _matrix(rows: Iterable[Sequence[float]], count: int, width: int) -> NDArray[np.float32]:
    return np.fromiter(chain.from_iterable(rows), np.float32, count * width).reshape(count, width)
