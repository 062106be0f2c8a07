"""What the rest of the evidence and a text show of each other: mentions of titles, names in common, bridges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..retrieval.asked import Sight
from .view import Neighbour, View

LINKS = (
    "others",
    "mentioned_by",
    "mention_share",
    "mention_overlap",
    "mention_asked",
    "back_links",
    "back_share",
    "back_overlap",
    "back_asked",
    "common_names",
    "common_share",
    "common_own_share",
    "common_weight",
    "joint_cover",
    "cover_gain",
    "new_overlap",
    "uncovered",
    "distance",
    "reached_from",
)
"""Names of :func:`link_rows`, in order."""
_FAR = 4
_SHORT = 3


class _Link(NamedTuple):
    """How a text and a neighbour are linked; shares are those of the question's weight in the best sentence.

    Attributes:
        neighbour: the other one.
        mention: share in its sentences that speak of the text's subject, -1 where none does.
        back: share in the text's sentences that speak of its subject, -1 where none does.
        names: names in common which neither the question holds nor one of the two is about.
    """

    neighbour: Neighbour
    mention: float
    back: float
    names: frozenset[str]

    @property
    def linked(self) -> bool:
        return self.mention >= 0 or self.back >= 0 or bool(self.names)


def link_rows(view: View) -> list[tuple[float, ...]]:
    """Return for each text what links it to the other titles of the evidence."""
    distances, sources = _distances(view, forward=True), _distances(view, forward=False)
    return [
        (*_row(view, sight, _links(view, place)), float(distances[title]), float(sources[title]))
        for place, (title, sight) in enumerate(zip(view.own, view.sights))
    ]


def _row(view: View, sight: Sight, links: list[_Link]) -> tuple[float, ...]:
    share = view.asked.share
    to, back = [link for link in links if link.mention >= 0], [link for link in links if link.back >= 0]
    common = frozenset(name for link in links for name in link.names)
    rest = 0
    for link in links:
        rest |= link.neighbour.bits
    own = share(sight.terms)
    linked = [link.neighbour.bits for link in links if link.linked]
    return (
        float(len(links)),
        float(len(to)),
        _most(link.mention for link in to),
        _most(share(link.neighbour.bits) for link in to),
        float(sum(link.neighbour.asked for link in to)),
        float(len(back)),
        _most(link.back for link in back),
        _most(share(link.neighbour.bits) for link in back),
        float(sum(link.neighbour.asked for link in back)),
        float(len(common)),
        _most(link.neighbour.shares[name] for link in links for name in sorted(link.names)),
        _most(share(sight.sentences[p]) for name in sorted(common) for p in sight.read.names[name][1]),
        _most(view.asked.weighed(name).weight for name in sorted(common)),
        _most(share(sight.terms | bits) for bits in linked),
        _most(share(sight.terms | bits) - max(own, share(bits)) for bits in linked),
        share(sight.terms & ~rest),
        1.0 - share(rest),
    )


def _links(view: View, place: int) -> list[_Link]:
    sight = view.sights[place]
    return [_link(view, sight, neighbour) for neighbour in view.others(view.own[place])]


def _link(view: View, sight: Sight, other: Neighbour) -> _Link:
    read = sight.read
    mention = back = -1.0
    if read.subject in other.text:
        mention = _spoken_share(view, read.subject, other.spoken)
    if other.subject in read.text and other.subject != read.subject:
        back = _spoken_share(view, other.subject, zip(read.spoken, sight.sentences))
    shared = read.names.keys() & other.shares.keys()
    names = (name for name in shared if name not in (read.key, other.key) and not view.asked.asks(name))
    return _Link(other, mention, back, frozenset(names))


def _spoken_share(view: View, subject: str, spoken: Iterable[tuple[str, int]]) -> float:
    """Return the largest share of the sentences that hold a subject, -1 where none does or it is too short to tell."""
    if len(subject) <= _SHORT:
        return -1.0
    return max((view.asked.share(bits) for sentence, bits in spoken if subject in sentence), default=-1.0)


def _distances(view: View, forward: bool) -> dict[str, int]:
    """Return how many mentions lie between the titles that the question holds and each title, at most ``_FAR``.

    Args:
        view: the task.
        forward: whether mentions lead from the one who mentions to the one mentioned, or back.
    """
    known = {title: 0 for title, neighbour in view.neighbours.items() if neighbour.asked}
    reached = list(known)
    for distance in range(1, _FAR):
        found = [
            title
            for title, neighbour in view.neighbours.items()
            if title not in known and any(_leads(view.neighbours[last], neighbour, forward) for last in reached)
        ]
        known |= dict.fromkeys(found, distance)
        reached = found
    return {title: known.get(title, _FAR) for title in view.neighbours}


def _leads(last: Neighbour, to: Neighbour, forward: bool) -> bool:
    speaking, spoken_of = (last, to) if forward else (to, last)
    return len(spoken_of.subject) > _SHORT and spoken_of.subject in speaking.text


def _most(values: Iterable[float]) -> float:
    return max(values, default=0.0)
