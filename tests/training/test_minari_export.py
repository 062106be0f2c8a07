"""Behaviour trajectories as a Minari data set: Minari loads them back, and they join the rows of the collection."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("minari", reason="needs the extra minari")
pytest.importorskip("h5py", reason="needs the extra minari")
pytest.importorskip("PIL", reason="needs the extra minari")

import minari

from evidencegym.actions.rules import Rules
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import ConfigError, DataError
from evidencegym.data.records import Question, Record
from evidencegym.envs.multihop_qa import MultiHopQAEnv
from evidencegym.training.collect import CollectSettings, collect
from evidencegym.training.minari_export import export_minari
from evidencegym.training.parts import PartStore
from evidencegym.training.rows import feature_matrix
from tests.small_world import engine, records

RULES = Rules()
POLICIES = [UniformController(0, avoid=[RULES.operations.stop]), UniformController(1)]
ABOUT = {"author": "tests", "author_email": "none", "code_permalink": "none", "description": "small world"}

pytestmark = pytest.mark.filterwarnings("ignore:.*is set to None:UserWarning", "ignore:env_spec is None:UserWarning")


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    shared = engine()
    return export_minari("small/uniform-v0", records(), RULES, lambda _: shared, POLICIES, **ABOUT)


def test_minari_loads_what_was_exported(exported: Any, tmp_path: Path) -> None:
    code = (
        "import minari; d = minari.load_dataset('small/uniform-v0'); e = next(d.iterate_episodes())\n"
        "print(d.total_episodes, d.total_steps, e.infos['action_mask'].shape, e.observations.shape)"
    )
    variables = {**os.environ, "MINARI_DATASETS_PATH": str(tmp_path / "minari")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=variables, capture_output=True, text=True, check=True, timeout=60
    )
    steps = len(exported[0])
    shapes = f"{(steps + 1, 7)} {exported[0].observations.shape}"
    assert done.stdout.strip() == f"{2 * len(records())} {exported.total_steps} {shapes}"
    assert "small/uniform-v0" in minari.list_local_datasets()


def test_each_step_joins_the_rows_of_the_collection(exported: Any, tmp_path: Path) -> None:
    shared, store = engine(), PartStore(tmp_path / "rows", {"seed": 0})
    collect(records(), RULES, lambda _: shared, POLICIES, store, CollectSettings(episodes=2))
    table = store.compact(record.uid for record in records())
    features = feature_matrix(table)
    rows: dict[tuple[str, int, int], dict[str, Any]] = {}
    for row, seen in zip(table.drop_columns("features").to_pylist(), features):
        key = row["question_id"], row["episode"], row["step"]
        rows.setdefault(key, {})[row["operation"]] = row | {"features": seen}
    joined = 0
    for episode in exported.iterate_episodes():
        infos = episode.infos
        for i in range(len(episode)):
            own = rows.pop((infos["question_id"][i].decode(), int(infos["episode"][i]), int(infos["step"][i])))
            names = [name for name, bit in zip(RULES.operations.names, infos["action_mask"][i]) if bit]
            chosen = own[RULES.operations.names[int(episode.actions[i])]]
            assert sorted(own) == sorted(names) and chosen["chosen"]
            assert np.array_equal(chosen["features"], episode.observations[i])
            gain = chosen["support_recall_after"] - chosen["support_recall"]
            assert infos["rewards"]["support_recall_gain"][i + 1] == gain
            joined += 1
        assert infos["rewards"]["answer_f1"][-1] == chosen["final_f1"]
    assert joined == exported.total_steps > 30 and not rows


def test_an_episode_is_what_the_environment_returns(exported: Any) -> None:
    env = MultiHopQAEnv(records(), engine())
    for episode in exported.iterate_episodes():
        question = episode.infos["question_id"][0].decode()
        seen, info = env.reset(options={"question": question})
        for i, action in enumerate(episode.actions):
            assert np.array_equal(seen, episode.observations[i])
            assert np.array_equal(info["action_mask"], episode.infos["action_mask"][i])
            seen, reward, terminated, truncated, info = env.step(action)
            assert (reward, terminated, truncated) == (
                episode.rewards[i],
                episode.terminations[i],
                episode.truncations[i],
            )
        assert terminated and np.array_equal(seen, episode.observations[-1])
        assert np.array_equal(info["action_mask"], episode.infos["action_mask"][-1])


def test_engines_of_their_own_and_small_batches_change_nothing(
    exported: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "other"))
    engines = [engine(), engine()]
    places = {record.uid: i for i, record in enumerate(records())}
    again = export_minari(
        "small/uniform-v0", records(), RULES, lambda r: engines[places[r.uid] % 2], POLICIES, batch=2, **ABOUT
    )
    for one, other in zip(exported.iterate_episodes(), again.iterate_episodes(), strict=True):
        assert np.array_equal(one.observations, other.observations) and np.array_equal(one.rewards, other.rewards)
        assert one.infos["question_id"].tolist() == other.infos["question_id"].tolist()


def test_without_reward_terms_the_rewards_are_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    made = export_minari("small/none-v0", records()[:1], RULES, lambda _: engine(), POLICIES[:1], {}, **ABOUT)
    assert made[0].rewards.tolist() == [0.0] * len(made[0])


def test_what_cannot_be_exported_is_refused(exported: Any) -> None:
    shared = engine()
    with pytest.raises(DataError, match="small/uniform-v0"):
        export_minari("small/uniform-v0", records(), RULES, lambda _: shared, POLICIES, **ABOUT)
    with pytest.raises(ConfigError, match="found 0 and 2"):
        export_minari("small/empty-v0", [], RULES, lambda _: shared, POLICIES)
    with pytest.raises(ConfigError, match="without gold"):
        export_minari("small/free-v0", [Record(Question.of("Who?"))], RULES, lambda _: shared, POLICIES)
