"""How the entities of a question and of a text match: names in the text, names in the title, names that are absent."""

from __future__ import annotations

from ..data.text import spaced, subject_of
from ..retrieval.asked import Sight
from .overlap import share_of
from .view import View

ALIGNMENT = (
    "name_mass",
    "name_share",
    "name_sentence",
    "best_name",
    "worst_name",
    "spoken_names",
    "names_absent",
    "same_names",
    "subject_in_question",
    "subject_is_name",
    "subject_overlap",
    "subject_weight",
    "subject_unasked",
    "name_title",
    "names_titled_elsewhere",
    "namesakes",
    "joint_share",
    "joint_sentence",
)
"""Names of :func:`alignment_row`, in order."""


def alignment_row(view: View, place: int) -> tuple[float, ...]:
    """Return how the names of question and text match."""
    asked, parts, sight = view.asked, view.parts, view.sights[place]
    read = sight.read
    each = [share_of(asked, sight.terms, name) for name in parts.each_name]
    spoken = _spoken(view, sight)
    subject = asked.weigh(read.subject_terms)
    common = share_of(asked, asked.bits(read.subject_terms), parts.names)
    overlap = sight.static[_SUBJECT_OVERLAP]
    return (
        asked.share(parts.names),
        share_of(asked, sight.terms, parts.names),
        max((share_of(asked, bits, parts.names) for bits in sight.sentences), default=0.0),
        max(each, default=0.0),
        min(each, default=0.0),
        float(len(spoken)),
        float(len(asked.names) - len(spoken)),
        float(len(asked.names.keys() & read.names.keys())),
        float(len(read.subject) > 2 and read.subject in asked.spaced),
        float(read.key in asked.names),
        overlap,
        subject,
        subject * (1.0 - overlap),
        common,
        float(_titled_elsewhere(view, place, spoken)),
        float(view.titles(subject_of(read.title))),
        asked.share(sight.terms),
        max(map(asked.share, sight.sentences), default=0.0),
    )


_SUBJECT_OVERLAP = 3
"""Place of the share of the subject's weight that the question holds, among what a sight shows."""


def _spoken(view: View, sight: Sight) -> list[str]:
    """Return the question's names that stand in title or text, as they are compared."""
    read = sight.read
    phrases = {key: spaced(name) for key, name in view.asked.names.items()}
    return [key for key, phrase in phrases.items() if phrase in read.text or phrase in spaced(read.title)]


def _titled_elsewhere(view: View, place: int, spoken: list[str]) -> int:
    """Return how many of the names that the text speaks of are the subject of another title."""
    keys = {neighbour.key for neighbour in view.others(view.own[place])}
    return sum(name in keys for name in spoken)
