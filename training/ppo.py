"""Policy-gradient training: MaskablePPO of sb3-contrib on the lockstep environment (extra ``rl``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..actions.engine import Engine
from ..actions.rules import Rules
from ..controllers.mlp_policy import CLIP, Layer, MLPPolicy, Standardisation
from ..controllers.policy_files import save_policy
from ..data.errors import BackendUnavailableError, ConfigError
from ..data.records import Record, content_hash
from ..envs.features import FeatureMap
from ..envs.rewards import DEFAULT_REWARDS, Reward

_COUNTS = ("steps", "num_envs", "n_steps", "epochs")


@dataclass(frozen=True, slots=True)
class PPOSettings:
    """How to train; where nothing is said the value is that of sb3-contrib.

    Attributes:
        steps: environment steps, rounded up to a multiple of ``num_envs * n_steps``.
        num_envs: episodes in lockstep, at least 1.
        n_steps: steps of each episode's environment between two updates, at least 1.
        batch_size: rows of a minibatch, from 2 to ``num_envs * n_steps``.
        epochs: passes over the rows of an update, at least 1.
        learning_rate: of Adam, above 0.
        gamma: discount, in (0, 1]; 1 by default, since an episode has a handful of steps.
        gae_lambda: trace of the advantages, in [0, 1].
        clip_range: of the probability ratio, above 0.
        entropy: weight of the entropy bonus, at least 0.
        hidden: widths of the tanh layers of policy and value network.
        masking: whether invalid operations are left out; without it the network has to learn the rules from penalties.
        invalid_penalty: what an invalid operation costs, at least 0; it counts without masking only.
        seed: of network, exploration and the draw of questions.
        device: where PyTorch computes; a network of this size is quickest on the CPU.

    Raises:
        ConfigError: if a value is out of range.
    """

    steps: int = 50_000
    num_envs: int = 32
    n_steps: int = 16
    batch_size: int = 128
    epochs: int = 10
    learning_rate: float = 1e-3
    gamma: float = 1.0
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    entropy: float = 0.01
    hidden: tuple[int, ...] = (64, 64)
    masking: bool = True
    invalid_penalty: float = 1.0
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in _COUNTS:
            _require(getattr(self, name) >= 1, name, "at least 1", getattr(self, name))
        rows = self.num_envs * self.n_steps
        _require(2 <= self.batch_size <= rows, "batch_size", f"in 2..num_envs * n_steps = {rows}", self.batch_size)
        _require(self.learning_rate > 0, "learning_rate", "above 0", self.learning_rate)
        _require(0 < self.gamma <= 1, "gamma", "in (0, 1]", self.gamma)
        _require(0 <= self.gae_lambda <= 1, "gae_lambda", "in [0, 1]", self.gae_lambda)
        _require(self.clip_range > 0, "clip_range", "above 0", self.clip_range)
        _require(self.entropy >= 0, "entropy", "at least 0", self.entropy)
        _require(self.invalid_penalty >= 0, "invalid_penalty", "at least 0", self.invalid_penalty)
        _require(all(width >= 1 for width in self.hidden), "hidden", "widths of at least 1", self.hidden)


def train_ppo(
    records: Sequence[Record],
    engine: Engine,
    rules: Rules | None = None,
    settings: PPOSettings | None = None,
    rewards: Mapping[str, Reward] | None = None,
    out: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MLPPolicy:
    """Train a policy network and return it as a controller, which needs neither PyTorch nor Stable-Baselines3.

    The features are standardised with the mean and variance of what was seen in training; they are part of the policy.
    The same seed gives the same policy on one machine with one number of threads.

    Args:
        records: the questions to draw from, each with gold.
        engine: executes the requests; its fitted models must not have seen these questions.
        rules: operation set and caps.
        settings: see :class:`PPOSettings`.
        rewards: terms of the reward by name; by default those of the environment.
        out: folder to save the policy in; None saves nothing.
        progress: called with (steps done, steps in all).

    Raises:
        ConfigError: if a question has no gold, or a setting is out of range.
        BackendUnavailableError: if the extra is not installed.
        DataError: if ``out`` cannot be written.
    """
    if lacking := [record.id for record in records if record.gold is None]:
        raise ConfigError(f"cannot learn from questions without gold: {', '.join(lacking[:5])}")
    chosen, game, terms = settings or PPOSettings(), rules or Rules(), DEFAULT_REWARDS if rewards is None else rewards
    learner = _learner(records, engine, game, chosen, terms)
    learner.learn(chosen.steps, callback=_callback(progress, chosen.steps), use_masking=chosen.masking)
    manifest = {
        "training": "MaskablePPO",
        "settings": asdict(chosen) | {"hidden": list(chosen.hidden)},
        "rewards": list(terms),
        "caps": asdict(game.caps),
        "disabled": sorted(game.operations.disabled),
        "engine": engine.fingerprint,
        "questions": content_hash(*sorted(record.uid for record in records)),
    }
    policy = exported(learner, game.operations.names, manifest)
    if out is not None:
        save_policy(policy, out)
    return policy


def exported(learner: Any, operations: Sequence[str], manifest: Mapping[str, Any] | None = None) -> MLPPolicy:
    """Return the policy of a ``MaskablePPO`` as a controller.

    Args:
        learner: a model with an ``MlpPolicy`` whose layers are tanh, on a ``VecNormalize`` of the adapter.
        operations: names of the operation set.
        manifest: what to save with the policy.

    Raises:
        ConfigError: if the model is of another kind.
    """
    from torch import nn

    hidden = [*learner.policy.mlp_extractor.policy_net, learner.policy.action_net]
    linear = [module for module in hidden if isinstance(module, nn.Linear)]
    if not all(isinstance(module, nn.Linear | nn.Tanh) for module in hidden) or len(hidden) != 2 * len(linear) - 1:
        raise ConfigError("only policies of linear layers with tanh between them can be exported")
    normaliser = learner.get_vec_normalize_env()
    if normaliser is None or not normaliser.norm_obs or normaliser.clip_obs != CLIP:
        raise ConfigError(f"expected a VecNormalize with norm_obs and clip_obs={CLIP:g} around the environment")
    moments = normaliser.obs_rms
    inputs = Standardisation(moments.mean.copy(), np.sqrt(moments.var + normaliser.epsilon))
    layers = [Layer(_numbers(module.weight).T.copy(), _numbers(module.bias)) for module in linear]
    return MLPPolicy(layers, inputs, FeatureMap(operations).names, operations, manifest)


def _learner(
    records: Sequence[Record], engine: Engine, rules: Rules, settings: PPOSettings, rewards: Mapping[str, Reward]
) -> Any:
    try:
        from sb3_contrib import MaskablePPO
        from stable_baselines3.common.vec_env import VecNormalize
    except ImportError as error:
        raise BackendUnavailableError("training a policy needs the extra rl: pip install 'evidencegym[rl]'") from error
    from ..envs.sb3_adapter import EvidenceSB3VecEnv

    penalty = settings.invalid_penalty
    episodes = EvidenceSB3VecEnv(records, engine, settings.num_envs, rules, rewards=rewards, invalid_penalty=penalty)
    return MaskablePPO(
        "MlpPolicy",
        VecNormalize(episodes, norm_reward=False, clip_obs=CLIP),
        learning_rate=settings.learning_rate,
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        ent_coef=settings.entropy,
        policy_kwargs={"net_arch": list(settings.hidden)},
        seed=settings.seed,
        device=settings.device,
    )


def _callback(progress: Callable[[int, int], None] | None, steps: int) -> Any:
    """Return a callback of Stable-Baselines3 that reports the steps done; False would end the training."""
    if progress is None:
        return None

    def report(found: dict[str, Any], _: dict[str, Any]) -> bool:
        progress(min(found["self"].num_timesteps, steps), steps)
        return True

    return report


def _numbers(tensor: Any) -> Any:
    return tensor.detach().cpu().numpy().astype(np.float32).copy()


def _require(holds: bool, name: str, expected: str, found: object) -> None:
    if not holds:
        raise ConfigError(f"ppo.{name} must be {expected}, found {found}")
