"""The baselines as schedules: what every controller keeps, and which operations each of them runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evidencegym.actions.caps import Caps
from evidencegym.actions.operation_set import operation_set
from evidencegym.actions.rules import Rules
from evidencegym.controllers.adaptive import MULTI, NONE, SINGLE, AdaptiveRAGController, ComplexityClassifier
from evidencegym.controllers.base import Controller
from evidencegym.controllers.corag import CoRAGController
from evidencegym.controllers.ircot import IRCoTController
from evidencegym.controllers.s2g import S2GController
from evidencegym.controllers.self_ask import SelfAskController
from evidencegym.data.errors import ConfigError, InvalidOperationError
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rollout import rollout
from evidencegym.generation.tasks import Judgement, JudgeTask, RewriteTask, Rewriting, Usage
from tests.controllers.models import FEATURES, OPERATIONS, trees
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records

STOP = OPERATIONS.index("stop_answer")
WIDTH = 11
FREE = Rules()
EQUAL = Rules(operation_set(disabled=["stop_answer", "sufficiency_check"]))
PROBING = Rules(operation_set(disabled=["stop_answer"]), Caps(steps=8, documents=12))
CLOSED_BOOK = Rules(operation_set(closed_book=True))


def adaptive(strategy: int) -> AdaptiveRAGController:
    return AdaptiveRAGController(ComplexityClassifier.always(strategy), FEATURES, OPERATIONS)


MADE: dict[str, Controller] = {
    "ircot": IRCoTController(FEATURES, OPERATIONS),
    "self-ask": SelfAskController(FEATURES, OPERATIONS),
    "s2g": S2GController(FEATURES, OPERATIONS),
    "corag": CoRAGController(FEATURES, OPERATIONS),
    "corag of one": CoRAGController(FEATURES, OPERATIONS, 1),
    "adaptive": AdaptiveRAGController(
        ComplexityClassifier([trees(WIDTH, seed) for seed in range(3)]), FEATURES, OPERATIONS
    ),
    "none": adaptive(NONE),
    "single": adaptive(SINGLE),
    "multi": adaptive(MULTI),
}


class Scripted(OverlapGenerator):
    """Finds the evidence sufficient from ``enough`` passages on, and writes the given gaps and queries in turn.

    A query is taken by the number of rewritings and gaps searched so far; where the list is at its end, it is empty.
    """

    def __init__(self, enough: int = 99, gaps: Sequence[str] = (), queries: Sequence[str] = ()) -> None:
        super().__init__()
        self.enough = enough
        self.gaps = list(gaps)
        self.queries = list(queries)

    def _judge(self, task: JudgeTask) -> Judgement:
        sufficient = len(task.passages) >= self.enough
        missing = "" if sufficient or not self.gaps else self.gaps.pop(0)
        return Judgement(sufficient, missing, float(sufficient), Usage(1, 1))

    def _rewrite(self, task: RewriteTask) -> Rewriting:
        return Rewriting(self.queries.pop(0) if self.queries else "", Usage(1, 1))


# So many words that each query brings three passages, whatever was found before.
MANY = "film director town river peak climber born lived music novel mountains fishing lamp"
GAPS = tuple(f"{MANY} {word}" for word in ("castle", "bridge", "garden"))
QUERIES = tuple(f"{MANY} {word}" for word in ("tower", "meadow", "island", "valley"))
SHORT = {"retrieve_more": "R", "rewrite_query": "W", "gap_query": "G", "sufficiency_check": "?", "stop_answer": "."}


def sequence(name: str, rules: Rules = FREE, **script: Any) -> str:
    """Return what an episode ran, one letter an operation (R retrieve, W rewrite, G gap, ? probe, . stop, B bridge)."""
    [episode] = rollout([records()[2].question], rules, engine(Scripted(**script)), MADE[name])
    return "".join(SHORT.get(operation, operation[0].upper()) for operation in episode.final.history)


def batch(n: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int8], list[str]]:
    random = np.random.default_rng(seed)
    low, high = FeatureMap(OPERATIONS).low, FeatureMap(OPERATIONS).high
    features = np.round(random.uniform(low, np.minimum(high, 4), (n, len(FEATURES)))).astype(np.float32)
    mask = (random.random((n, len(OPERATIONS))) < 0.4).astype(np.int8)
    mask[np.arange(n), random.integers(len(OPERATIONS), size=n)] = 1
    return features, mask, [f"q{seed}:{i}" for i in range(n)]


@pytest.mark.parametrize("name", MADE)
@settings(deadline=None, max_examples=20)
@given(n=st.integers(1, 80), seed=st.integers(0, 1000))
def test_only_valid_operations_are_chosen_and_batching_changes_none(name: str, n: int, seed: int) -> None:
    features, mask, keys = batch(n, seed)
    before = features.copy(), mask.copy()
    chosen = MADE[name].decide(features, mask, keys).operations
    assert chosen.dtype == np.int64 and chosen.shape == (n,)
    assert np.all(mask[np.arange(n), chosen] == 1)
    single = [MADE[name].act(features[i : i + 1], mask[i : i + 1], keys[i : i + 1])[0] for i in range(n)]
    assert single == chosen.tolist()
    order = np.random.default_rng(seed).permutation(n)
    assert np.array_equal(MADE[name].act(features[order], mask[order], [keys[i] for i in order]), chosen[order])
    assert np.array_equal(features, before[0]) and np.array_equal(mask, before[1])


@pytest.mark.parametrize("name", MADE)
def test_an_all_zero_mask_is_an_error_and_an_empty_batch_has_no_decisions(name: str) -> None:
    features, mask, keys = batch(3, 2)
    assert MADE[name].act(features[:0], mask[:0], []).shape == (0,)
    mask[1] = 0
    with pytest.raises(InvalidOperationError, match="a mask is all zero"):
        MADE[name].act(features, mask, keys)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("operation", range(len(OPERATIONS)))
def test_the_only_valid_operation_is_taken(name: str, operation: int) -> None:
    features, _, keys = batch(10, 4)
    mask = np.zeros((10, len(OPERATIONS)), np.int8)
    mask[:, operation] = 1
    assert MADE[name].act(features, mask, keys).tolist() == [operation] * 10


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("rules", [FREE, EQUAL, PROBING, CLOSED_BOOK], ids=["free", "equal", "probing", "closed book"])
def test_every_episode_ends_with_an_answer_and_the_same_twice(name: str, rules: Rules) -> None:
    questions = [record.question for record in records()]
    first, second = (rollout(questions, rules, engine(), MADE[name], batch=size) for size in (64, 3))
    assert all(episode.final.end and episode.final.answer for episode in first)
    assert [episode.final for episode in first] == [episode.final for episode in second]
    assert all(episode.final.steps <= rules.caps.steps for episode in first)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("rules", [EQUAL, PROBING], ids=["equal", "probing"])
def test_where_stopping_is_disabled_all_hold_as_many_documents(name: str, rules: Rules) -> None:
    [episode] = rollout([records()[2].question], rules, engine(Scripted(gaps=GAPS, queries=QUERIES)), MADE[name])
    assert len(episode.final.held) == 12 and episode.final.end == "cap"


@pytest.mark.parametrize(
    ("name", "script", "ran"),
    [
        ("ircot", {"queries": QUERIES}, "RWWW"),
        ("ircot", {"queries": QUERIES[:1]}, "RWW."),
        ("ircot", {}, "RW."),
        ("self-ask", {"enough": 1}, "R?."),
        ("self-ask", {"gaps": GAPS, "queries": QUERIES}, "R?GW"),
        ("self-ask", {"gaps": GAPS}, "R?GW"),
        ("self-ask", {"queries": QUERIES}, "R?WW"),
        ("self-ask", {}, "R?W."),
        ("s2g", {"enough": 1}, "R?."),
        ("s2g", {"gaps": GAPS}, "R?GR"),
        ("s2g", {}, "R?RR"),
        ("corag", {"queries": QUERIES}, "RWWW"),
        ("corag", {"queries": QUERIES[:1]}, "RWWR"),
        ("corag", {}, "RWRW"),
        ("corag of one", {"queries": QUERIES}, "RW."),
        ("corag of one", {}, "RWR."),
        ("none", {}, "R."),
        ("single", {"queries": QUERIES}, "R."),
        ("multi", {"queries": QUERIES}, "RWWW"),
        ("multi", {}, "RW."),
    ],
)
def test_operations_under_the_paper_s_caps(name: str, script: dict[str, Any], ran: str) -> None:
    assert sequence(name, FREE, **script) == ran


@pytest.mark.parametrize(
    ("name", "script", "ran"),
    [
        ("ircot", {"queries": QUERIES}, "RWWW"),
        ("ircot", {}, "RWRW"),
        ("self-ask", {"gaps": GAPS, "queries": QUERIES}, "RWWW"),
        ("s2g", {"gaps": GAPS, "queries": QUERIES}, "RRRR"),
        ("corag", {"queries": QUERIES}, "RWWW"),
        ("corag of one", {"queries": QUERIES}, "RWWW"),
        ("none", {"queries": QUERIES}, "RRRR"),
        ("single", {"queries": QUERIES}, "RRRR"),
        ("multi", {"queries": QUERIES}, "RWWW"),
    ],
)
def test_operations_at_equal_documents(name: str, script: dict[str, Any], ran: str) -> None:
    assert sequence(name, EQUAL, **script) == ran


@pytest.mark.parametrize(
    ("name", "script", "ran"),
    [
        ("ircot", {"queries": QUERIES}, "RWWW"),
        ("self-ask", {"gaps": GAPS}, "R?G?G?G"),
        ("self-ask", {"gaps": GAPS, "enough": 6, "queries": QUERIES}, "R?G?W?W"),
        ("s2g", {"gaps": GAPS}, "R?G?G?G"),
        ("s2g", {"gaps": GAPS, "enough": 6}, "R?G?R?R"),
    ],
)
def test_operations_where_only_stopping_is_disabled_and_probes_have_room(
    name: str, script: dict[str, Any], ran: str
) -> None:
    assert sequence(name, PROBING, **script) == ran


def test_a_verdict_ends_the_loop_when_it_comes() -> None:
    roomy = Rules(caps=Caps(steps=8))
    assert sequence("s2g", roomy, gaps=GAPS, enough=6) == "R?G?."
    assert sequence("self-ask", roomy, gaps=GAPS, enough=9) == "R?G?G?."


def test_only_a_closed_book_lets_an_episode_end_without_evidence() -> None:
    assert sequence("none", CLOSED_BOOK) == "."
    assert [sequence(name, CLOSED_BOOK)[0] for name in MADE if name not in ("none", "adaptive")] == ["R"] * 7


def test_a_chain_has_a_length() -> None:
    roomy = Rules(caps=Caps(steps=8))
    assert sequence("corag", roomy, queries=QUERIES) == "RWWW."
    assert sequence("ircot", roomy, queries=QUERIES) == "RWWWWW."
    with pytest.raises(ConfigError, match="length of a chain must be at least 1, found 0"):
        CoRAGController(FEATURES, OPERATIONS, 0)


@pytest.mark.parametrize("made", [IRCoTController, SelfAskController, S2GController, CoRAGController])
@pytest.mark.parametrize("missing", ["retrieve_more", "stop_answer", "documents"])
def test_what_a_schedule_needs_must_be_there(made: type[IRCoTController], missing: str) -> None:
    def without(names: Sequence[str]) -> list[str]:
        return [name for name in names if name != missing]

    with pytest.raises(ConfigError, match=f"{made.__name__} needs {missing}"):
        made(without(FEATURES), without(OPERATIONS))


@pytest.mark.parametrize(
    ("made", "missing"),
    [
        (IRCoTController, "rewrite_query"),
        (CoRAGController, "rewrite_query"),
        (SelfAskController, "gap_query"),
        (S2GController, "sufficiency_check"),
    ],
)
def test_the_operation_that_makes_a_schedule_must_be_there(made: type[IRCoTController], missing: str) -> None:
    with pytest.raises(ConfigError, match=f"{made.__name__} needs {missing}"):
        made(FEATURES, [name for name in OPERATIONS if name != missing])
