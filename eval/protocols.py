"""The two comparisons, never mixed: at equal documents, and free."""

from __future__ import annotations

from dataclasses import replace

from ..actions.operation_set import GATE
from ..actions.rules import Rules
from ..controllers.base import Controller
from ..controllers.fixed_k import FixedKController
from ..controllers.uniform import UniformController
from ..envs.build import build_rules
from ..envs.features import FeatureMap
from ..envs.settings import TaskSettings
from .runner import ORACLE, Method

LEARNED = "learned"
UNIFORM = "uniform"
FREE = "free"
EQUAL = "equal"
NO_RETRIEVALS = ("stop_answer", "sufficiency_check", GATE)
"""Disabled where every step is to be a retrieval."""


def free(settings: TaskSettings, controller: Controller, seed: int) -> list[Method]:
    """Every method stops when it wants, within the caps; fixed-k for each k that the steps allow."""
    rules = build_rules(settings)
    fixed = [Method(f"fixed-{k}", rules, _fixed(rules, k)) for k in range(1, settings.caps.steps + 1)]
    return [
        Method(LEARNED, rules, controller),
        Method(UNIFORM, rules, UniformController(seed)),
        *fixed,
        Method(ORACLE, rules),
    ]


def equal(settings: TaskSettings, controller: Controller, seed: int) -> list[Method]:
    """Every step of every method is a retrieval, so all hold the same number of documents (paper's caps: 12).

    ``stop_answer`` and ``sufficiency_check`` are disabled, since either would leave a method with fewer documents.
    """
    rules = retrieving(settings)
    return [
        Method(LEARNED, rules, controller),
        Method(UNIFORM, rules, UniformController(seed)),
        Method(f"fixed-{settings.caps.steps}", rules, _fixed(rules, settings.caps.steps)),
        Method(ORACLE, rules),
    ]


def uniform_k(settings: TaskSettings, seed: int) -> dict[int, Method]:
    """Return uniform choice with exactly k retrievals, for comparing at matched mean retrievals."""
    rules = retrieving(settings)
    return {
        k: Method(f"uniform-{k}", Rules(rules.operations, replace(rules.caps, retrievals=k)), UniformController(seed))
        for k in range(1, settings.caps.steps + 1)
    }


def retrieving(settings: TaskSettings) -> Rules:
    """Return the rules under which every step is a retrieval; ``compress`` runs after the last one, never as a step.

    A corrective gate is disabled as well: it discards, and brings more than a retrieval does.
    """
    held = build_rules(settings).operations.names
    after = replace(settings, compress_in_control=False)
    return build_rules(after, disabled=[name for name in NO_RETRIEVALS if name in held])


def _fixed(rules: Rules, k: int) -> Controller:
    names = rules.operations.names
    return FixedKController(FeatureMap(names).names, names, k)
