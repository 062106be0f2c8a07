"""Policy-gradient training: what is learned beats uniform, what cannot be learned does not; export and files."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs the extra rl")

from numpy.typing import NDArray

from evidencegym.actions.engine import Engine
from evidencegym.actions.rules import Rules
from evidencegym.actions.state import EvidenceState
from evidencegym.controllers.policy_files import load_policy
from evidencegym.controllers.uniform import UniformController
from evidencegym.data.errors import BackendUnavailableError, ConfigError, ManifestMismatchError
from evidencegym.data.records import Gold, Question, Record
from evidencegym.data.world import World
from evidencegym.envs.features import FeatureMap
from evidencegym.envs.rewards import CostPenalty, Reward, SupportRecallGain
from evidencegym.envs.rollout import Policy
from evidencegym.eval.runner import Method, run_method
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.training.ppo import PPOSettings, exported, train_ppo
from tests.fakes import OverlapGenerator
from tests.small_world import engine, records

RULES = Rules()
SEEDS = (0, 1, 2)
LEARNING = PPOSettings(steps=4096)
TINY = PPOSettings(steps=64, num_envs=2, n_steps=16, batch_size=32, epochs=2, hidden=(8,))


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Any:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Task(NamedTuple):
    """A small synthetic world: questions to learn from, others to be measured on."""

    train: list[Record]
    dev: list[Record]
    engine: Engine


@lru_cache(maxsize=1)
def task() -> Task:
    world = World(600, 1)
    shared = Engine(BM25Retriever.build(world.passages()), OverlapGenerator(), 200_000)
    return Task(list(world.questions(300, "train")), list(world.questions(120, "dev")), shared)


class Shuffled(Reward):
    """Values of a term in a random order: each step gets the value of some earlier one, so its size tells nothing."""

    def __init__(self, term: Reward, seed: int) -> None:
        self.term = term
        self.random = np.random.default_rng(seed)
        self.waiting: list[float] = []

    def __call__(self, before: EvidenceState, after: EvidenceState, operation: str, gold: Gold) -> float:
        self.waiting.append(self.term(before, after, operation, gold))
        return self.waiting.pop(int(self.random.integers(len(self.waiting)))) if len(self.waiting) > 64 else 0.0


def terms() -> dict[str, Reward]:
    return {"gain": SupportRecallGain(), "cost": CostPenalty({"retrievals": 0.01, "generator_calls": 0.01})}


def shuffled(seed: int) -> dict[str, Reward]:
    return {name: Shuffled(term, 10 * seed + i) for i, (name, term) in enumerate(terms().items())}


def recall(policy: Policy) -> float:
    """Return the mean support recall on questions that were not trained on."""
    results = run_method(Method("policy", RULES, policy), task().dev, task().engine)
    return float(np.mean([result["metrics"]["support_recall"] for result in results]))


@lru_cache(maxsize=1)
def beyond_luck() -> float:
    """Return six standard deviations above uniform's mean over seeds: by luck, once in a billion seeds."""
    found = [recall(UniformController(seed)) for seed in range(20)]
    return float(np.mean(found) + 6 * np.std(found, ddof=1))


def every_seed_reaches_it(settings: PPOSettings, rewards: Callable[[int], Mapping[str, Reward]]) -> bool:
    """Whether the policies of all seeds exceed what uniform cannot reach by luck; stops at the first that does not."""
    made = (train_ppo(task().train, task().engine, RULES, replace(settings, seed=s), rewards(s)) for s in SEEDS)
    return all(recall(policy) > beyond_luck() for policy in made)


def test_a_fitted_policy_beats_uniform_beyond_luck() -> None:
    assert every_seed_reaches_it(LEARNING, lambda _: terms())


def test_from_shuffled_rewards_nothing_is_learned() -> None:
    assert not every_seed_reaches_it(LEARNING, shuffled)


def test_without_the_mask_the_same_training_does_not_suffice() -> None:
    assert not every_seed_reaches_it(replace(LEARNING, masking=False), lambda _: terms())


def states(n: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    random, features = np.random.default_rng(0), FeatureMap(RULES.operations.names)
    seen = random.uniform(features.low, np.minimum(features.high, 8), (n, len(features.names))).astype(np.float32)
    mask = (random.random((n, len(RULES.operations))) < 0.5).astype(np.int8)
    mask[np.arange(n), random.integers(len(RULES.operations), size=n)] = 1
    return seen, mask


def test_the_exported_policy_decides_as_the_learner_does() -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecNormalize

    from evidencegym.envs.sb3_adapter import EvidenceSB3VecEnv

    env = VecNormalize(EvidenceSB3VecEnv(records(), engine(), 2), norm_reward=False)
    learner = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, seed=0, device="cpu").learn(128)
    policy = exported(learner, RULES.operations.names)
    seen, mask = states(200)
    tensor, _ = learner.policy.obs_to_tensor(env.normalize_obs(seen))
    expected = learner.policy.get_distribution(tensor, mask).distribution.logits.detach().numpy()
    values = policy.values(seen, mask)
    assert np.allclose(values[mask > 0], expected[mask > 0], atol=1e-4)
    chosen, _ = learner.predict(env.normalize_obs(seen), deterministic=True, action_masks=mask)
    ranked = np.sort(np.where(mask > 0, values, -np.inf), axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1e-3
    assert clear.sum() > 150 and np.array_equal(policy.act(seen, mask, [""] * 200)[clear], chosen[clear])


def test_only_what_can_be_exported_is() -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecNormalize
    from torch import nn

    from evidencegym.envs.sb3_adapter import EvidenceSB3VecEnv

    env = EvidenceSB3VecEnv(records(), engine(), 2)
    with pytest.raises(ConfigError, match="VecNormalize"):
        exported(MaskablePPO("MlpPolicy", env), RULES.operations.names)
    relu = MaskablePPO("MlpPolicy", VecNormalize(env), policy_kwargs={"activation_fn": nn.ReLU})
    with pytest.raises(ConfigError, match="tanh"):
        exported(relu, RULES.operations.names)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    done: list[tuple[int, int]] = []
    for name in "ab":
        train_ppo(records(), engine(), RULES, TINY, out=tmp_path / name, progress=lambda *steps: done.append(steps))
    assert done[-1] == (64, 64) and done[0] == (2, 64)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()
    loaded = load_policy(tmp_path / "a", FeatureMap(RULES.operations.names).names, RULES.operations.names)
    other = train_ppo(records(), engine(), RULES, replace(TINY, seed=1))
    assert loaded.fingerprint != other.fingerprint and loaded.manifest["settings"]["hidden"] == [8]
    with pytest.raises(ManifestMismatchError, match="other operations"):
        load_policy(tmp_path / "a", loaded.feature_names, RULES.operations.names[:-1])


def test_a_saved_policy_is_used_without_pytorch(tmp_path: Path) -> None:
    train_ppo(records(), engine(), RULES, TINY, out=tmp_path / "policy")
    code = f"""
import sys
from pathlib import Path
import numpy as np
import evidencegym.training.ppo
from evidencegym.controllers.policy_files import load_policy
from evidencegym.actions.rules import Rules
from evidencegym.envs.features import FeatureMap
names = Rules().operations.names
features = FeatureMap(names)
policy = load_policy(Path({str(tmp_path / "policy")!r}), features.names, names)
print(policy.act(features.low[None], np.eye(7, dtype=np.int8)[[5]], ["k"])[0])
print([name for name in ("torch", "stable_baselines3", "sb3_contrib") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split("\n")[:2] == ["5", "[]"]


def test_questions_without_gold_are_refused() -> None:
    with pytest.raises(ConfigError, match="without gold"):
        train_ppo([*records(), Record(Question.of("Who?"))], engine(), RULES, TINY)


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(BackendUnavailableError, match=r"evidencegym\[rl\]"):
        train_ppo(records(), engine(), RULES, TINY)


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 0},
        {"num_envs": 0},
        {"n_steps": 0},
        {"epochs": 0},
        {"batch_size": 1},
        {"batch_size": 513},
        {"learning_rate": 0.0},
        {"gamma": 0.0},
        {"gamma": 1.1},
        {"gae_lambda": -0.1},
        {"clip_range": 0.0},
        {"entropy": -1.0},
        {"invalid_penalty": -1.0},
        {"hidden": (8, 0)},
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"ppo.{next(iter(change))} must be"):
        PPOSettings(**change)
