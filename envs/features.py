"""The observation: named features of the evidence state, each with a finite range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..actions.state import EvidenceState
from .overlap import Overlap, overlap
from .question_shape import QuestionShape, question_shape


class Feature(NamedTuple):
    """A named number with its range; values outside are clipped to it."""

    name: str
    low: float
    high: float
    meaning: str


class _View(NamedTuple):
    """What the features read: the state, and what was derived from it once."""

    state: EvidenceState
    shape: QuestionShape
    overlap: Overlap
    scores: NDArray[np.float64]


_Reader = Callable[[_View], float]


def _score(place: int) -> _Reader:
    return lambda v: float(v.scores[place]) if len(v.scores) > abs(place) - (place < 0) else 0.0


_FEATURES: tuple[tuple[Feature, _Reader], ...] = (
    (Feature("question_words", 0, 100, "words in the question"), lambda v: v.shape.words),
    (Feature("question_content_words", 0, 60, "words that are not stop words"), lambda v: len(v.shape.content)),
    (Feature("question_names", 0, 10, "capitalised spans in the question"), lambda v: len(v.shape.names)),
    (Feature("asks_who", 0, 1, "who, whom, whose"), lambda v: v.shape.form == "who"),
    (Feature("asks_when", 0, 1, "when, what year, what date"), lambda v: v.shape.form == "when"),
    (Feature("asks_where", 0, 1, "where, which place"), lambda v: v.shape.form == "where"),
    (Feature("asks_how_many", 0, 1, "how many, how much, how long"), lambda v: v.shape.form == "how_many"),
    (Feature("asks_yes_no", 0, 1, "begins with a form of be, do or have"), lambda v: v.shape.form == "yes_no"),
    (Feature("asks_what", 0, 1, "any other question word"), lambda v: v.shape.form == "what"),
    (Feature("compares", 0, 1, 'compares two things ("or", "both", "older")'), lambda v: v.shape.compares),
    (Feature("question_links", 0, 10, "of, by, whose, that, 's: words that chain"), lambda v: v.shape.links),
    (Feature("documents", 0, 50, "passages held"), lambda v: len(v.state.held)),
    (Feature("distinct_titles", 0, 50, "titles among them"), lambda v: v.overlap.titles),
    (Feature("evidence_words", 0, 5000, "words of the passages held"), lambda v: v.overlap.words),
    (Feature("frontier", 0, 100, "places used of the question's ranking"), lambda v: v.state.frontier),
    (Feature("frontier_exhausted", 0, 1, "that ranking holds no more"), lambda v: v.state.frontier_exhausted),
    (Feature("newest", 0, 20, "passages that the last retrieval brought"), lambda v: v.state.newest),
    (Feature("retrievals", 0, 50, "retrievals so far"), lambda v: v.state.retrievals),
    (Feature("steps", 0, 50, "steps used"), lambda v: v.state.steps),
    (Feature("steps_left", 0, 50, "steps left"), lambda v: v.state.caps.steps - v.state.steps),
    (Feature("room", 0, 20, "passages that the next retrieval may add"), lambda v: v.state.room),
    (Feature("score_first", 0, 200, "score of the first passage"), _score(0)),
    (Feature("score_second", 0, 200, "score of the second passage"), _score(1)),
    (Feature("score_third", 0, 200, "score of the third passage"), _score(2)),
    (Feature("score_last", 0, 200, "score of the newest passage"), _score(-1)),
    (Feature("score_mean", 0, 200, "mean score"), lambda v: float(v.scores.mean()) if len(v.scores) else 0.0),
    (Feature("score_spread", 0, 100, "standard deviation of the scores"), lambda v: _spread(v.scores)),
    (Feature("covered", 0, 1, "share of the question's content words in the evidence"), lambda v: v.overlap.covered),
    (Feature("uncovered_words", 0, 60, "content words not in the evidence"), lambda v: v.overlap.uncovered),
    (Feature("overlap_best", 0, 1, "largest share of them in one passage"), lambda v: v.overlap.best),
    (Feature("overlap_mean", 0, 1, "mean share of them in a passage"), lambda v: v.overlap.mean),
    (
        Feature("overlap_newest", 0, 1, "largest share of them in a passage of the last arrival"),
        lambda v: v.overlap.newest,
    ),
    (Feature("names_held", 0, 10, "names of the question that are titles held"), lambda v: v.overlap.names_held),
    (
        Feature("names_missing", 0, 10, "names of the question absent from the evidence"),
        lambda v: v.overlap.names_missing,
    ),
    (Feature("title_links", 0, 50, "titles held that another held passage mentions"), lambda v: v.overlap.links),
    (Feature("titles_in_question", 0, 20, "titles held that the question mentions"), lambda v: v.overlap.titles_asked),
    (Feature("candidates", 0, 300, "bridge entities detected"), lambda v: len(v.state.candidates)),
    (Feature("expanded", 0, 20, "bridge entities expanded"), lambda v: len(v.state.expanded)),
    (
        Feature("candidate_overlap", 0, 1, "share of content words in the best sentence with the next candidate"),
        lambda v: v.overlap.candidate,
    ),
    (
        Feature("probed", 0, 1, "a verdict was made on the present evidence"),
        lambda v: v.state.probed_version == v.state.evidence_version,
    ),
    (Feature("verdict", -1, 1, "last verdict: 1 sufficient, -1 not, 0 none"), lambda v: _verdict(v.state)),
    (Feature("sufficiency", 0, 1, "probability of the last verdict being sufficient"), lambda v: v.state.sufficiency),
    (Feature("gap_words", 0, 60, "words of the recorded gap"), lambda v: len(v.state.gap.split())),
    (
        Feature("gap_open", 0, 1, "a gap is recorded and not yet searched"),
        lambda v: bool(v.state.gap) and v.state.gap not in v.state.queries,
    ),
    (Feature("since_probe", 0, 20, "arrivals since the last verdict"), lambda v: _since_probe(v.state)),
    (Feature("prompt_tokens", 0, 100, "thousands of tokens read so far"), lambda v: v.state.cost.prompt_tokens / 1000),
    (Feature("generator_calls", 0, 50, "generator calls so far"), lambda v: v.state.cost.generator_calls),
)


def _spread(scores: NDArray[np.float64]) -> float:
    return float(scores.std()) if len(scores) else 0.0


def _verdict(state: EvidenceState) -> float:
    return 0.0 if state.sufficient is None else 1.0 if state.sufficient else -1.0


def _since_probe(state: EvidenceState) -> float:
    return 0.0 if state.probed_version < 0 else state.evidence_version - state.probed_version


def count_features(operations: Sequence[str]) -> tuple[Feature, ...]:
    """Return one feature for each operation: how often it ran."""
    return tuple(Feature(f"count_{name}", 0, 20, f"times that {name} ran") for name in operations)


class FeatureMap:
    """Turns an evidence state into a vector.

    Args:
        operations: names of the operation set; each adds the count of its runs.

    Attributes:
        features: the features with their ranges and meanings, in the order of the vector.
        names: their names.
        low: (features,) float32, lower ends.
        high: (features,) float32, upper ends.
    """

    def __init__(self, operations: Sequence[str]) -> None:
        self.operations = tuple(operations)
        self.features = tuple(feature for feature, _ in _FEATURES) + count_features(self.operations)
        self.names = tuple(feature.name for feature in self.features)
        self.low = np.array([feature.low for feature in self.features], np.float32)
        self.high = np.array([feature.high for feature in self.features], np.float32)

    def vector(self, state: EvidenceState) -> NDArray[np.float32]:
        """Return (features,) float32, each value within its range."""
        scores = np.array([item.score for item in state.held], np.float64)
        view = _View(state, question_shape(state.question.text), overlap(state), scores)
        values = [float(read(view)) for _, read in _FEATURES]
        values += [float(state.history.count(name)) for name in self.operations]
        return np.clip(np.array(values, np.float32), self.low, self.high)

    def matrix(self, states: Sequence[EvidenceState]) -> NDArray[np.float32]:
        """Return (states, features) float32."""
        rows = [self.vector(state) for state in states]
        return np.stack(rows) if rows else np.zeros((0, len(self.names)), np.float32)
