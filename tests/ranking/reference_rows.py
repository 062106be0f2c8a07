"""The features of found passages and of searches, worked out plainly from their definitions, task by task."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evidencegym.data.records import Passage
from evidencegym.data.text import name_spans, spaced, words
from evidencegym.ranking.passage_features import PASSAGE_FEATURES
from evidencegym.ranking.proposal_features import PROPOSAL_FEATURES
from evidencegym.ranking.tasks import Found, RankTask
from evidencegym.retrieval.base import Retriever
from evidencegym.retrieval.tokens import terms

_FORMS = ("who", "when", "where", "what", "which", "how")
_COMPARING = "or both same older younger earlier later first longer shorter larger smaller higher more".split()


def key_of(name: str) -> str:
    """A name as names are compared: in lower case, single spaces, no leading article."""
    found = name.casefold().split()
    return " ".join(found[1:] if found[0:1] == ["the"] and len(found) > 1 else found)


def subject(passage: Passage) -> str:
    return passage.title.split(" (")[0]


def sentences(passage: Passage) -> list[str]:
    return [sentence for sentence in passage.sentences if sentence.strip()]


@lru_cache(maxsize=10_000)
def terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


@lru_cache(maxsize=1000)
def names(passage: Passage) -> dict[str, tuple[str, list[int]]]:
    """Return each name, as first written, with the sentences that mention it."""
    found: dict[str, tuple[str, list[int]]] = {}
    for place, sentence in enumerate(sentences(passage)):
        for name in name_spans(sentence):
            if len(name) == 1 or (name.isdigit() and len(name) != 4):
                continue
            found.setdefault(key_of(name), (name, []))[1].append(place)
    return found


class Reference:
    """Rows of one task.

    Args:
        task: the task.
        retriever: the corpus.
    """

    def __init__(self, task: RankTask, retriever: Retriever) -> None:
        self.task = task
        self.retriever = retriever
        self.question = task.question
        self.terms = list(dict.fromkeys(terms(task.question)))
        self.mass = sum(self.weight(term) for term in self.terms) or 1.0
        self.names = {key_of(name): name for name in name_spans(task.question)}

    def weight(self, term: str) -> float:
        return self.retriever.rarity(term, self.task.pool)

    def weigh(self, found: Sequence[str] | AbstractSet[str]) -> float:
        return sum(self.weight(term) for term in sorted(set(found)))

    def share(self, found: AbstractSet[str]) -> float:
        """Return the share of the question's weight that its terms among ``found`` have."""
        return sum(self.weight(term) for term in self.terms if term in found) / self.mass

    def shown(self, passage: Passage) -> AbstractSet[str]:
        return terms_of(f"{passage.title} . {passage.text}")

    def sentence_shares(self, passage: Passage, without: AbstractSet[str]) -> list[float]:
        return [self.share(terms_of(s) - without) for s in sentences(passage)]

    def asks(self, name: str) -> bool:
        return f" {name} " in spaced(self.question)

    def covered(self, held: Sequence[Passage]) -> AbstractSet[str]:
        return set(self.terms) & set().union(*(self.shown(p) for p in held)) if held else set()

    def shape(self) -> dict[str, float]:
        tokens = ["who" if t in ("whom", "whose") else t for t in words(self.question)]
        form = next((t for t in tokens if t in _FORMS), "")
        links = [t for t in words(self.question)[1:] if t in "of by whose that which who where".split()]
        return {
            "question_words": len(tokens),
            "question_names": len(self.names),
            "question_links": len(links) + self.question.count("'s "),
            "compares": any(t in _COMPARING for t in tokens),
            **{f"asks_{name}": form == name for name in _FORMS},
        }

    def state(self, held: Sequence[Passage], trust: Sequence[float]) -> dict[str, float]:
        missing = 1.0 - self.share(self.covered(held))
        return {
            "uncovered": missing,
            "held": len(held),
            "trusted": sum(trust),
            "least_trust": min(trust, default=0.0),
        } | self.shape()

    def passage(self, found: Found) -> dict[str, float]:
        """Return the features of a found passage by name."""
        passage = found.passage
        pairs = [(p, t) for p, t in zip(self.task.held, self.task.trust) if p.id != passage.id]
        held, trust = [p for p, _ in pairs], [t for _, t in pairs]
        covered, own, name = self.covered(held), terms_of(subject(passage)), spaced(subject(passage))
        weight = self.weigh(own)
        return (
            {key: getattr(found, key) for key in PASSAGE_FEATURES[:6]}
            | {
                "overlap": self.share(self.shown(passage)),
                "sentence_overlap": max(self.sentence_shares(passage, set()), default=0.0),
                "subject_in_question": len(name) > 2 and name in spaced(self.question),
                "subject_overlap": self.weigh(own & set(self.terms)) / weight if weight else 0.0,
                "subject_weight": weight,
                "subject_terms": len(own),
                "names_of_question": len(self.names.keys() & names(passage).keys()),
                "spoken_names_of_question": sum(spaced(n) in spaced(passage.text) for n in self.names.values()),
                "length": len(terms(f"{passage.title} . {passage.text}")),
                "sentences": len(sentences(passage)),
                "bracketed": " (" in passage.title,
                "new_overlap": self.share(self.shown(passage) - covered),
                "new_sentence_overlap": max(self.sentence_shares(passage, covered), default=0.0),
                "namesakes": len(self.retriever.about(subject(passage), self.task.pool)),
                "subject_asked": self.asks(key_of(subject(passage))),
                "subject_held": max([t for p, t in pairs if _same(p, passage)], default=-1.0),
            }
            | self.links(passage, held, trust)
            | self.state(held, trust)
        )

    def links(self, passage: Passage, held: list[Passage], trust: list[float]) -> dict[str, float]:
        """Return what the held passages and another one show of each other."""
        key, name = key_of(subject(passage)), spaced(subject(passage))
        mentioned = [(at, p, t) for at, (p, t) in enumerate(zip(held, trust)) if key in names(p)]
        shares = {p.id: self.mention_share(p, key) for _, p, _ in mentioned}
        spoken = [t for p, t in zip(held, trust) if len(name) > 3 and name in spaced(p.text)]
        back = [(p, t) for p, t in zip(held, trust) if self.speaks(passage, p)]
        common = [(self.common(passage, p), p, t) for p, t in zip(held, trust)]
        common = [(c, p, t) for c, p, t in common if c]
        common_shares = [max(self.mention_share(p, c) for c in shared) for shared, p, _ in common]
        return {
            "mentioned_by": len(mentioned),
            "mentions": sum(len(names(p)[key][1]) for _, p, _ in mentioned),
            "mention_share": max(shares.values(), default=0.0),
            "mention_trust": max([t for _, _, t in mentioned], default=0.0),
            "mention_trusted_share": max([shares[p.id] * t for _, p, t in mentioned], default=0.0),
            "mention_place": min([at for at, _, _ in mentioned], default=20),
            "mention_sentence": min([names(p)[key][1][0] for _, p, _ in mentioned], default=20),
            "spoken_of": len(spoken),
            "spoken_trust": max(spoken, default=0.0),
            "back_links": len(back),
            "asked_back_links": sum(spaced(subject(p)) in spaced(self.question) for p, _ in back),
            "back_share": max([self.spoken_share(passage, p) for p, _ in back], default=0.0),
            "back_trust": max([t for _, t in back], default=0.0),
            "common_names": len(set().union(*(c for c, _, _ in common)) if common else ()),
            "common_share": max(common_shares, default=0.0),
            "common_trust": max([t for _, _, t in common], default=0.0),
            "common_trusted_share": max([s * t for s, (_, _, t) in zip(common_shares, common)], default=0.0),
            "likeness": max([_likeness(self.shown(passage), self.shown(p)) for p in held], default=0.0),
        }

    def mention_share(self, passage: Passage, name: str) -> float:
        return max(self.share(terms_of(sentences(passage)[place])) for place in names(passage)[name][1])

    def speaks(self, passage: Passage, other: Passage) -> bool:
        name = spaced(subject(other))
        return len(name) > 3 and name in spaced(passage.text) and name != spaced(subject(passage))

    def spoken_share(self, passage: Passage, other: Passage) -> float:
        name = spaced(subject(other))
        return max([self.share(terms_of(s)) for s in sentences(passage) if name in spaced(s)], default=0.0)

    def common(self, passage: Passage, other: Passage) -> AbstractSet[str]:
        own = key_of(subject(passage))
        return {n for n in names(passage).keys() & names(other).keys() if not self.asks(n) and n != own}

    def searches(self) -> list[tuple[str, str, dict[str, float]]]:
        """Return entity, query and features of each search that was not made."""
        written = dict(self.names)
        for passage in self.task.held:
            written.setdefault(key_of(subject(passage)), subject(passage))
            for key, (name, _) in names(passage).items():
                written.setdefault(key, name)
        found = [search for key, name in written.items() for search in self.entity(key, name)]
        return [search for search in found if search[1] not in self.task.queries]

    def entity(self, key: str, name: str) -> list[tuple[str, str, dict[str, float]]]:
        """Return both searches about an entity."""
        own = list(dict.fromkeys(terms(name)))
        if not own:
            return []
        held, trust = self.task.held, self.task.trust
        mentioned = [(at, p, t) for at, (p, t) in enumerate(zip(held, trust)) if key in names(p)]
        uncovered = [term for term in self.terms if term not in self.covered(held)]
        weight = self.weigh(own)
        values = {
            "mentioned_by": len(mentioned),
            "mentions": sum(len(names(p)[key][1]) for _, p, _ in mentioned),
            "mention_share": max([self.mention_share(p, key) for _, p, _ in mentioned], default=0.0),
            "mention_trust": max([t for _, _, t in mentioned], default=0.0),
            "mention_trusted_share": max([t * self.mention_share(p, key) for _, p, t in mentioned], default=0.0),
            "mention_place": min([20, *(at for at, _, _ in mentioned)]),
            "mention_sentence": min([20, *(names(p)[key][1][0] for _, p, _ in mentioned)]),
            "asked": key in self.names or self.asks(key) or self.asks(spaced(name).strip()),
            "held_title_trust": max([t for p, t in zip(held, trust) if key_of(subject(p)) == key], default=-1.0),
            "titles": len(self.retriever.about(name, self.task.pool)),
            "weight": weight,
            "terms": len(own),
            "is_number": name.isdigit(),
            "overlap": self.weigh(set(own) & set(self.terms)) / weight if weight else 0.0,
            "uncovered_terms": len(uncovered),
            "searches": len(self.task.queries),
        } | self.state(held, trust)
        rest = [term for term in uncovered if term not in own]
        queries = f"{name} {self.question}", " ".join([name, *rest])
        return [(name, query, {"asks_uncovered": form, **values}) for form, query in enumerate(queries)]


def _same(one: Passage, other: Passage) -> bool:
    return key_of(subject(one)) == key_of(subject(other))


def _likeness(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def row(values: dict[str, Any], wanted: tuple[str, ...]) -> NDArray[np.float32]:
    """Return the values in the order of the features, which must be the same ones."""
    if set(values) != set(wanted):
        raise AssertionError(f"the reference lacks, or has too many of, {set(values) ^ set(wanted)}")
    return np.array([float(values[name]) for name in wanted], np.float32)


def passage_rows(task: RankTask, retriever: Retriever) -> list[NDArray[np.float32]]:
    """Return the rows of the passages found."""
    return [row(Reference(task, retriever).passage(found), PASSAGE_FEATURES) for found in task.found]


def search_rows(task: RankTask, retriever: Retriever) -> list[tuple[str, str, NDArray[np.float32]]]:
    """Return entity, query and row of each search."""
    return [(e, q, row(values, PROPOSAL_FEATURES)) for e, q, values in Reference(task, retriever).searches()]
