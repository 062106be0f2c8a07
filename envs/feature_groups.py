"""The features by what they are read from, each group with one function that gives all its values in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from ..actions.operation_set import GATE
from ..actions.state import EvidenceState
from ..confidence.verdicts import Verdict
from .overlap import overlap
from .question_shape import question_shape


class Feature(NamedTuple):
    """A named number with its range; values outside are clipped to it."""

    name: str
    low: float
    high: float
    meaning: str


class FeatureGroup(NamedTuple):
    """Features, and what reads their values, in the same order, from a state."""

    features: tuple[Feature, ...]
    values: Callable[[EvidenceState], Sequence[float]]


_QUESTION = (
    Feature("question_words", 0, 100, "words in the question"),
    Feature("question_content_words", 0, 60, "words that are not stop words"),
    Feature("question_names", 0, 10, "capitalised spans in the question"),
    Feature("asks_who", 0, 1, "who, whom, whose"),
    Feature("asks_when", 0, 1, "when, what year, what date"),
    Feature("asks_where", 0, 1, "where, which place"),
    Feature("asks_how_many", 0, 1, "how many, how much, how long"),
    Feature("asks_yes_no", 0, 1, "begins with a form of be, do or have"),
    Feature("asks_what", 0, 1, "any other question word"),
    Feature("compares", 0, 1, 'compares two things ("or", "both", "older")'),
    Feature("question_links", 0, 10, "of, by, whose, that, 's: words that chain"),
)
_VERDICTS = (Verdict.CORRECT, Verdict.AMBIGUOUS, Verdict.INCORRECT)
_FORMS = ("who", "when", "where", "how_many", "yes_no", "what")


@lru_cache(maxsize=4096)
def _shape(question: str) -> tuple[float, ...]:
    shape = question_shape(question)
    asks = [shape.form == form for form in _FORMS]
    return (shape.words, len(shape.content), len(shape.names), *asks, shape.compares, shape.links)


def _question(state: EvidenceState) -> tuple[float, ...]:
    return _shape(state.question.text)


_EVIDENCE = (
    Feature("documents", 0, 50, "passages held"),
    Feature("distinct_titles", 0, 50, "titles among them"),
    Feature("evidence_words", 0, 5000, "words of the passages held"),
    Feature("frontier", 0, 100, "places used of the question's ranking"),
    Feature("frontier_exhausted", 0, 1, "that ranking holds no more"),
    Feature("newest", 0, 20, "passages that the last retrieval brought"),
    Feature("retrievals", 0, 50, "retrievals so far"),
    Feature("steps", 0, 50, "steps used"),
    Feature("steps_left", 0, 50, "steps left"),
    Feature("room", 0, 20, "passages that the next retrieval may add"),
    Feature("score_first", 0, 200, "score of the first passage"),
    Feature("score_second", 0, 200, "score of the second passage"),
    Feature("score_third", 0, 200, "score of the third passage"),
    Feature("score_last", 0, 200, "score of the newest passage"),
    Feature("score_mean", 0, 200, "mean score"),
    Feature("score_spread", 0, 100, "standard deviation of the scores"),
    Feature("covered", 0, 1, "share of the question's content words in the evidence"),
    Feature("uncovered_words", 0, 60, "content words not in the evidence"),
    Feature("overlap_best", 0, 1, "largest share of them in one passage"),
    Feature("overlap_mean", 0, 1, "mean share of them in a passage"),
    Feature("overlap_newest", 0, 1, "largest share of them in a passage of the last arrival"),
    Feature("names_held", 0, 10, "names of the question that are titles held"),
    Feature("names_missing", 0, 10, "names of the question absent from the evidence"),
    Feature("title_links", 0, 50, "titles held that another held passage mentions"),
    Feature("titles_in_question", 0, 20, "titles held that the question mentions"),
    Feature("candidates", 0, 300, "bridge entities detected"),
    Feature("expanded", 0, 20, "bridge entities expanded"),
    Feature("candidate_overlap", 0, 1, "share of content words in the best sentence with the next candidate"),
)


def _evidence(state: EvidenceState) -> tuple[float, ...]:
    found = overlap(state)
    steps = state.steps
    return (
        len(state.held),
        found.titles,
        found.words,
        state.frontier,
        state.frontier_exhausted,
        state.newest,
        state.retrievals,
        steps,
        state.caps.steps - steps,
        state.room,
        *_scores(tuple(map(attrgetter("score"), state.held))),
        found.covered,
        found.uncovered,
        found.best,
        found.mean,
        found.newest,
        found.names_held,
        found.names_missing,
        found.links,
        found.titles_asked,
        len(state.candidates),
        len(state.expanded),
        found.candidate,
    )


@lru_cache(maxsize=4096)
def _scores(scores: tuple[float, ...]) -> tuple[float, ...]:
    """Return the first three scores, the last, their mean and their standard deviation."""
    if not scores:
        return (0.0,) * 6
    array = np.array(scores, np.float64)
    return (*_padded(scores, 3), scores[-1], float(array.mean()), float(array.std()))


_PROBE = (
    Feature("probed", 0, 1, "a verdict was made on the present evidence"),
    Feature("verdict", -1, 1, "last verdict: 1 sufficient, -1 not, 0 none"),
    Feature("sufficiency", 0, 1, "probability of the last verdict being sufficient"),
    Feature("gap_words", 0, 60, "words of the recorded gap"),
    Feature("gap_open", 0, 1, "a gap is recorded and not yet searched"),
    Feature("since_probe", 0, 20, "arrivals since the last verdict"),
)


def _probe(state: EvidenceState) -> tuple[float, ...]:
    since = state.evidence_version - state.probed_version
    return (
        since == 0,
        0.0 if state.sufficient is None else 1.0 if state.sufficient else -1.0,
        state.sufficiency,
        len(state.gap.split()),
        bool(state.gap) and state.gap not in state.queries,
        since if state.probed_version >= 0 else 0.0,
    )


_SPENT = (
    Feature("prompt_tokens", 0, 100, "thousands of tokens read so far"),
    Feature("generator_calls", 0, 50, "generator calls so far"),
)


def _spent(state: EvidenceState) -> tuple[float, ...]:
    costs = [cost for _, cost in state.ledger]
    return sum([cost.prompt_tokens for cost in costs]) / 1000, sum([cost.generator_calls for cost in costs])


_RANKED = (
    Feature("found", 0, 1000, "passages found, held or not, where a ranker chooses"),
    Feature("relevance_sum", 0, 20, "expected number of relevant passages held, by the ranker"),
    Feature("relevance_first", 0, 1, "probability of relevance of the likeliest held passage"),
    Feature("relevance_second", 0, 1, "the same of the second"),
    Feature("relevance_third", 0, 1, "the same of the third"),
    Feature("relevance_fourth", 0, 1, "the same of the fourth"),
    Feature("pool_first", 0, 1, "probability of relevance of the likeliest passage found and not held"),
    Feature("pool_second", 0, 1, "the same of the second"),
    Feature("pool_room", 0, 20, "expected number of relevant passages among those that there is room for"),
    Feature("proposal_first", 0, 1, "predicted gain of the best search proposed"),
    Feature("proposal_second", 0, 1, "the same of the second"),
)


def _ranked(state: EvidenceState) -> tuple[float, ...]:
    if state.ranking is None:
        return (0.0,) * len(_RANKED)
    scored = list(zip(state.found, state.ranking.scores))
    kept = {item.passage.id for item in state.held}
    held = sorted([score for item, score in scored if item.passage.id in kept], reverse=True)
    pool = sorted([score for item, score in scored if item.passage.id not in state.seen], reverse=True)
    gains = [proposal.gain for proposal in state.ranking.proposals]
    return (
        len(scored),
        sum(held),
        *_padded(held, 4),
        *_padded(pool, 2),
        sum(pool[: state.room]),
        *_padded(gains, 2),
    )


def _padded(values: Sequence[float], n: int) -> list[float]:
    return [*values[:n], *([0.0] * (n - len(values)))]


_GATE = (
    Feature("gated", 0, 1, "the last gate judged the present evidence"),
    Feature("gate_correct", 0, 1, "its verdict was correct"),
    Feature("gate_ambiguous", 0, 1, "its verdict was ambiguous"),
    Feature("gate_incorrect", 0, 1, "its verdict was incorrect"),
    Feature("gate_best", -1, 1, "highest score that it gave, -1 without a gate"),
    Feature("gate_second", -1, 1, "second highest"),
    Feature("gate_mean", -1, 1, "mean score"),
    Feature("gate_brought", 0, 20, "passages that it brought from elsewhere"),
    Feature("gate_discarded", 0, 50, "passages that it discarded"),
    Feature("refined_sentences", 0, 200, "sentences that it left of the passages"),
    Feature("elsewhere_held", 0, 50, "passages held that a gate brought from elsewhere"),
    Feature("external_searches", 0, 20, "searches elsewhere so far"),
)


def _gate(state: EvidenceState) -> tuple[float, ...]:
    elsewhere = sum(item.operation == GATE for item in state.held)
    refined = sum(len(sentences) for _, sentences in state.refined)
    gate = state.gate
    if gate is None:
        return (0.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0, 0.0, 0.0, refined, elsewhere, state.external)
    best = sorted(gate.scores, reverse=True)
    return (
        gate.version == state.evidence_version,
        *(gate.verdict == verdict for verdict in _VERDICTS),
        best[0],
        best[1] if len(best) > 1 else -1.0,
        sum(best) / len(best),
        gate.brought,
        gate.discarded,
        refined,
        elsewhere,
        state.external,
    )


GATE_GROUP = FeatureGroup(_GATE, _gate)
"""Of operation sets with a gate only, so that others keep their features."""
GROUPS = (
    FeatureGroup(_QUESTION, _question),
    FeatureGroup(_EVIDENCE, _evidence),
    FeatureGroup(_PROBE, _probe),
    FeatureGroup(_RANKED, _ranked),
    FeatureGroup(_SPENT, _spent),
)
