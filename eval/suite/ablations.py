"""Ablations of the learned controller by name."""

from __future__ import annotations

from dataclasses import replace

from ...actions.operation_set import PRESETS
from ...controllers.forest import ForestController
from ...envs.settings import TaskSettings
from .protocols import without

NO_RANKER = "no_ranker"
UNRANKED = "unranked"
CONTROLLERS = "controllers"
UNIFORM = "uniform"
EPSILON = "epsilon"
NO_VETO = "no_veto"
NO_FLOOR = "no_floor"
_WITHOUT = {f"no_{name}": name for name in PRESETS["with_gate"]}

ABLATIONS: dict[str, str] = {
    **{name: f"{operation} is disabled" for name, operation in _WITHOUT.items()},
    NO_VETO: "the continuation model's veto of stop_answer is left out",
    NO_FLOOR: "all passages are read for the answer, whatever they score",
    NO_RANKER: "every operation takes its default candidate; the same controller",
    UNRANKED: "every operation takes its default candidate; a controller trained that way",
    UNIFORM: "uniform choice among the valid operations, with the run's ranker",
    EPSILON: "the same controller, but some of its decisions are uniform",
    CONTROLLERS: "the other controllers of the run, such as those of other targets",
}
"""Name -> what is changed. ``no_OPERATION``: the same controller under rules that disable the operation."""


def removed(name: str, settings: TaskSettings) -> TaskSettings | None:
    """Return the settings of ``no_OPERATION``; None for other ablations, and where nothing would change."""
    if name not in _WITHOUT:
        return None
    changed = without(settings, [_WITHOUT[name]])
    return changed if changed.disabled != sorted(settings.disabled) else None


def unvetoed(controller: ForestController) -> ForestController | None:
    """Return the controller without its continuation model; None where it has none."""
    if controller.continuation is None:
        return None
    return ForestController(
        controller.trees,
        controller.feature_names,
        controller.operations,
        controller.expected_costs,
        None,
        controller.cost_weight,
        controller.cost_weights,
        controller.manifest,
    )


def reweighted(controller: ForestController, cost_weight: float, cost_weights: dict[str, float]) -> ForestController:
    """Return the controller with another lambda, and other weights of the kinds of cost."""
    return ForestController(
        controller.trees,
        controller.feature_names,
        controller.operations,
        controller.expected_costs,
        controller.continuation,
        cost_weight,
        cost_weights,
        controller.manifest,
    )


def default_candidates(settings: TaskSettings) -> TaskSettings | None:
    """Return the settings without a ranker; None where there is none."""
    return None if settings.ranker == "none" else replace(settings, ranker="none")
