"""The features by their plain definitions: everything derived anew from the whole state, nothing remembered."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evidencegym.actions.state import EvidenceState
from evidencegym.data.records import Passage
from evidencegym.data.text import content_words, name_spans, normalise_title, words
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.question_shape import question_shape

DATED = re.compile(r" (?:in|on|for|to|of|and) (?:[A-Z]\w+ )?\d.*$")


class Bag(NamedTuple):
    vocabulary: set[str]
    spaced: str
    length: int
    title: str
    names: set[str]


def spaced(text: str) -> str:
    return f" {' '.join(words(text))} "


def names_of(passage: Passage) -> list[tuple[str, str]]:
    """Return (key, name) of the names in a passage's sentences, in order of first mention."""
    found: dict[str, str] = {}
    for sentence in passage.sentences:
        for span in name_spans(sentence):
            name = DATED.sub("", span)
            found.setdefault(normalise_title(name), name)
    return list(found.items())


def bag_of(passage: Passage) -> Bag:
    tokens = words(f"{passage.title} . {passage.text}")
    title = normalise_title(passage.title.split(" (")[0])
    return Bag(set(tokens), f" {' '.join(tokens)} ", len(tokens), title, {key for key, _ in names_of(passage)})


def reference_candidates(question: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the bridge entities of passages, best rank first."""
    titles = {normalise_title(passage.title) for passage in passages}
    found: dict[str, str] = {}
    for passage in passages:
        for key, name in names_of(passage):
            plain = len(name) > 1 and not name.isdigit()
            if plain and key not in found and key not in titles and spaced(name) not in spaced(question):
                found[key] = name
    return tuple(found.values())


def reference_next(state: EvidenceState) -> str:
    """Return the first candidate that has not been expanded."""
    done = {normalise_title(name) for name in state.expanded}
    return next((name for name in state.candidates if normalise_title(name) not in done), "")


def mention_share(content: Sequence[str], passage: Passage, name: str) -> float:
    shares = [
        sum(word in set(words(sentence)) for word in content) / max(1, len(content))
        for sentence in passage.sentences
        if name in sentence
    ]
    return max(shares, default=0.0)


def overlap_values(state: EvidenceState) -> dict[str, float]:
    """Return the features of question and evidence together."""
    text, passages = state.question.text, [item.passage for item in state.held]
    content = tuple(dict.fromkeys(content_words(text)))
    bags = [bag_of(passage) for passage in passages]
    n = max(1, len(content))
    shares = [sum(word in bag.vocabulary for word in content) / n for bag in bags]
    covered = sum(any(word in bag.vocabulary for bag in bags) for word in content)
    titles = {bag.title for bag in bags}
    names, candidate = name_spans(text), reference_next(state)
    return {
        "distinct_titles": len(titles),
        "evidence_words": sum(bag.length for bag in bags),
        "covered": covered / n,
        "uncovered_words": len(content) - covered,
        "overlap_best": max(shares, default=0.0),
        "overlap_mean": sum(shares) / max(1, len(shares)),
        "overlap_newest": max(shares[len(shares) - state.newest :], default=0.0),
        "names_held": sum(normalise_title(name) in titles for name in names),
        "names_missing": sum(not any(spaced(name) in bag.spaced for bag in bags) for name in names),
        "title_links": sum(any(t in bag.names for bag in bags if bag.title != t) for t in titles),
        "titles_in_question": sum(spaced(t) in spaced(text) for t in titles if t),
        "candidate_overlap": max((mention_share(content, p, candidate) for p in passages), default=0.0)
        if candidate
        else 0.0,
    }


def state_values(state: EvidenceState) -> dict[str, float]:
    """Return the features that need no text of a passage."""
    scores = np.array([item.score for item in state.held], np.float64)
    at = dict(enumerate(scores.tolist()))
    used = sum(1 for name in state.history if name != "stop_answer")
    room = state.caps.documents_per_retrieval
    if state.caps.documents is not None:
        room = max(0, min(room, state.caps.documents - len(scores)))
    shape = question_shape(state.question.text)
    return {
        "question_words": shape.words,
        "question_content_words": len(shape.content),
        "question_names": len(shape.names),
        **{f"asks_{form}": shape.form == form for form in ("who", "when", "where", "how_many", "yes_no", "what")},
        "compares": shape.compares,
        "question_links": shape.links,
        "documents": len(scores),
        "frontier": state.frontier,
        "frontier_exhausted": state.frontier_exhausted,
        "newest": state.newest,
        "retrievals": state.retrievals,
        "steps": used,
        "steps_left": state.caps.steps - used,
        "room": room,
        "score_first": at.get(0, 0.0),
        "score_second": at.get(1, 0.0),
        "score_third": at.get(2, 0.0),
        "score_last": at.get(len(scores) - 1, 0.0),
        "score_mean": float(scores.mean()) if len(scores) else 0.0,
        "score_spread": float(scores.std()) if len(scores) else 0.0,
        "candidates": len(state.candidates),
        "expanded": len(state.expanded),
        "probed": state.probed_version == state.evidence_version,
        "verdict": {None: 0.0, True: 1.0, False: -1.0}[state.sufficient],
        "sufficiency": state.sufficiency,
        "gap_words": len(state.gap.split()),
        "gap_open": bool(state.gap) and state.gap not in state.queries,
        "since_probe": 0.0 if state.probed_version < 0 else state.evidence_version - state.probed_version,
        **reference_ranked(state),
        "prompt_tokens": sum(cost.prompt_tokens for _, cost in state.ledger) / 1000,
        "generator_calls": sum(cost.generator_calls for _, cost in state.ledger),
    }


def reference_vector(features: FeatureMap, state: EvidenceState) -> NDArray[np.float32]:
    """Return what ``features.vector(state)`` must be, bit by bit."""
    counts = {f"count_{name}": state.history.count(name) for name in features.operations}
    values = state_values(state) | overlap_values(state) | counts
    if set(values) != set(features.names):
        raise AssertionError(f"the reference lacks, or has too many of, {set(values) ^ set(features.names)}")
    return np.clip(np.array([float(values[name]) for name in features.names], np.float32), features.low, features.high)


def reference_ranked(state: EvidenceState) -> dict[str, float]:
    """Return what a ranker thinks of the passages, zeros without one."""
    scores = state.ranking.scores if state.ranking else ()
    gains = [proposal.gain for proposal in state.ranking.proposals] if state.ranking else []
    ids = {item.passage.id for item in state.held}
    held = sorted((score for item, score in zip(state.found, scores) if item.passage.id in ids), reverse=True)
    pool = sorted((score for item, score in zip(state.found, scores) if item.passage.id not in ids), reverse=True)
    padded = [*held, 0.0, 0.0, 0.0, 0.0]
    return {
        "found": len(scores),
        "relevance_sum": sum(held),
        **{f"relevance_{name}": padded[i] for i, name in enumerate(("first", "second", "third", "fourth"))},
        "pool_first": [*pool, 0.0][0],
        "pool_second": [*pool, 0.0, 0.0][1],
        "pool_room": sum(pool[: state.room]),
        "proposal_first": [*gains, 0.0][0],
        "proposal_second": [*gains, 0.0, 0.0][1],
    }
