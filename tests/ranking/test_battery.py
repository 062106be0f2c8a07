"""What every ranker keeps to, whatever it is behind: values, determinism, identity."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from evidencegym.data.trees import TreeArrays
from evidencegym.ranking.fitted import FittedRanker, RankerModel
from evidencegym.ranking.lexical import LexicalRanker
from evidencegym.ranking.rankings import PROPOSALS, ranking
from evidencegym.ranking.tasks import Ranking
from evidencegym.training.ranker_rows import RecordingRanker
from tests.ranking.small_rankers import NAMES, digest, model, ranker, small_tasks, world_retriever
from tests.small_world import retriever

TASKS = small_tasks()
CODE = """
from tests.ranking.small_rankers import NAMES, digest, ranker, small_tasks
print([digest(ranker(name).rank(small_tasks())) for name in NAMES])
"""


@pytest.mark.parametrize("name", NAMES)
def test_every_passage_found_is_scored_and_every_proposal_is_new(name: str) -> None:
    for task, made in zip(TASKS, ranker(name).rank(TASKS), strict=True):
        assert len(made.scores) == len(task.found) and all(0 <= score <= 1 for score in made.scores)
        queries = [proposal.query for proposal in made.proposals]
        assert len(queries) <= PROPOSALS and not set(queries) & set(task.queries)
        assert all(p.entity and p.query.startswith(p.entity) and 0 <= p.gain <= 1 for p in made.proposals)
        if name != "recording":
            assert [p.gain for p in made.proposals] == sorted([p.gain for p in made.proposals], reverse=True)
    assert all(type(value) is float for value in (*made.scores, *(p.gain for p in made.proposals)))


@pytest.mark.parametrize("name", NAMES)
def test_one_by_one_in_any_order_is_all_at_once(name: str) -> None:
    together = ranker(name).rank(TASKS)
    order = list(range(len(TASKS)))
    Random(3).shuffle(order)
    one = ranker(name)
    found = {i: one.rank([TASKS[i]])[0] for i in order}
    assert [found[i] for i in range(len(TASKS))] == together
    assert one.rank(TASKS) == together and ranker(name).rank([]) == []


@pytest.mark.parametrize("seed", ["1", "2"])
def test_another_process_with_other_hashes_gives_the_same_bits(seed: str) -> None:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([*(part for part in sys.path if part), str(root)])
    variables = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-P", "-c", CODE], env=variables, capture_output=True, text=True, check=True, timeout=100
    )
    assert done.stdout.strip() == str([digest(ranker(name).rank(TASKS)) for name in NAMES])


@pytest.mark.parametrize("name", NAMES)
def test_a_ranker_travels(name: str) -> None:
    one = ranker(name)
    before = pickle.loads(pickle.dumps(one))
    made = one.rank(TASKS)
    after = pickle.loads(pickle.dumps(one))
    assert before.rank(TASKS) == after.rank(TASKS) == made
    assert before.fingerprint == after.fingerprint == one.fingerprint


def test_what_can_change_a_ranking_changes_the_fingerprint() -> None:
    other = RankerModel(model().proposals, model().proposals)
    behind = LexicalRanker(retriever())
    rankers = [
        *(ranker(name) for name in NAMES),
        *(ranker(name, world_retriever()) for name in NAMES),
        FittedRanker(other, retriever()),
        RecordingRanker(behind, 0.5, 2),
        RecordingRanker(behind, 0.4, 1),
        RecordingRanker(ranker("fitted"), 0.5, 1),
    ]
    prints = [one.fingerprint for one in rankers]
    assert len(set(prints)) == len(prints)
    assert prints[:3] == [ranker(name).fingerprint for name in NAMES]


def test_only_the_tasks_strayed_from_differ_and_scores_stay_as_high() -> None:
    behind = LexicalRanker(retriever())
    plain = behind.rank(TASKS)
    assert RecordingRanker(behind, 0.0, 0).rank(TASKS) == plain
    half = RecordingRanker(behind, 0.5, 0)
    strayed = half.rank(TASKS)
    assert half.asked == list(zip(TASKS, plain))
    other = [place for place, (one, two) in enumerate(zip(strayed, plain)) if one != two]
    assert 0.2 < len(other) / len(TASKS) < 0.8
    for place in other:
        made, was = strayed[place], plain[place]
        assert sorted(made.proposals) == sorted(was.proposals)
        changed = [i for i, (a, b) in enumerate(zip(made.scores, was.scores)) if a != b]
        assert len(changed) <= 1
        assert all(TASKS[place].found[i].passage not in TASKS[place].held for i in changed)
        assert all(made.scores[i] == max(was.scores) for i in changed)


def test_ties_keep_the_order_of_the_rows() -> None:
    searches = [(f"E{n}", f"E{n} ?") for n in range(12)]
    made = ranking(searches, np.array([0.25]), np.array([0.5, 0.75] * 6))
    assert [p.entity for p in made.proposals] == ["E1", "E3", "E5", "E7", "E9", "E11", "E0", "E2"]
    assert ranking([], np.zeros(0), np.zeros(0)) == Ranking((), ())


def test_the_same_model_is_saved_as_the_same_bytes_and_ranks_alike(tmp_path: Path) -> None:
    for name in ("a", "b"):
        model().save(tmp_path / name, {"seed": 3})
    files = [{file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("a", "b")]
    assert files[0] == files[1] and len(files[0]) == 2
    read = FittedRanker(RankerModel.load(tmp_path / "a"), retriever())
    assert read.rank(TASKS) == ranker("fitted").rank(TASKS)
    assert read.fingerprint == ranker("fitted").fingerprint


def test_a_passage_s_score_is_the_model_s_probability() -> None:
    """One tree that asks for the second feature, the rank in the question's own ranking."""
    arrays = model().passages
    stump = TreeArrays(
        np.array([1, -1, -1], np.int32),
        np.array([2, 0, 0], np.int32),
        np.array([0.5, 3.0, -3.0]),
        np.zeros(1, np.int32),
        0.0,
        1.0,
        arrays.n_features,
    )
    first = FittedRanker(RankerModel(stump, model().proposals), retriever())
    for task, made in zip(TASKS, first.rank(TASKS)):
        assert made.scores == tuple(1 / (1 + np.exp(-3.0 if f.asked_rank == 0 else 3.0)) for f in task.found)
    assert first.rank([replace(task, question=f"{task.question} ") for task in TASKS[:3]]) is not None
