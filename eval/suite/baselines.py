"""The baselines of the benchmark by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...controllers.adaptive import AdaptiveRAGController
from ...controllers.base import Controller
from ...controllers.corag import CoRAGController
from ...controllers.crag import CRAGController
from ...controllers.fixed_k import FixedKController
from ...controllers.ircot import IRCoTController
from ...controllers.s2g import S2GController
from ...controllers.self_ask import SelfAskController
from ...controllers.uniform import UniformController
from ...data.errors import ConfigError
from .protocols import may_stop

UNIFORM = "uniform"
ADAPTIVE = "adaptive"
WITH_RANKER = "+ranker"
_SCHEDULES: dict[str, Callable[[Sequence[str], Sequence[str]], Controller]] = {
    "ircot": IRCoTController,
    "self_ask": SelfAskController,
    "s2g": S2GController,
    "corag": CoRAGController,
}
_FIXED = re.compile(r"fixed_([1-9]\d*)")
_CRAG = re.compile(r"crag(?:_([1-9]\d*))?")


class Baseline(NamedTuple):
    """One method of a baseline.

    Attributes:
        name: what the tables call it; a seed's own method is NAME-seedN.
        policy: chooses.
        noted: all that can change a choice, for the manifest.
    """

    name: str
    policy: Controller
    noted: Mapping[str, Any]


def check_baselines(names: Sequence[str]) -> None:
    """Check that every baseline is known and none repeated.

    Raises:
        ConfigError: otherwise.
    """
    known = [*_SCHEDULES, UNIFORM, ADAPTIVE]
    if unknown := [n for n in names if n not in known and not _FIXED.fullmatch(n) and not _CRAG.fullmatch(n)]:
        raise ConfigError(
            f"unknown baselines: {', '.join(unknown)}; there are: fixed_K, crag, crag_K, {', '.join(known)}"
        )
    if len(set(names)) != len(names):
        raise ConfigError(f"baselines must not repeat a name, found {', '.join(names)}")


def baselines_of(
    names: Sequence[str],
    protocol: str,
    steps: int,
    seeds: Sequence[int],
    features: Sequence[str],
    operations: Sequence[str],
    adaptive: AdaptiveRAGController | None,
) -> Iterator[Baseline]:
    """Yield the methods of the named baselines under a protocol.

    Where a method may not stop, fixed_K with fewer than ``steps`` retrievals would go on, so it is left out.

    Args:
        names: checked by :func:`check_baselines`.
        protocol: name of the protocol.
        steps: control steps of the task.
        seeds: of ``uniform``.
        features: names of the features.
        operations: names of the operation set.
        adaptive: the fitted controller, if ``adaptive`` is among the names.

    Raises:
        ConfigError: if an operation that a baseline needs is missing.
    """
    for name in names:
        if found := _FIXED.fullmatch(name):
            k = int(found[1])
            if may_stop(protocol) or k >= steps:
                yield Baseline(name, FixedKController(features, operations, k), {"policy": "fixed-k", "k": k})
        elif found := _CRAG.fullmatch(name):
            k = int(found[1] or 1)
            yield Baseline(name, CRAGController(features, operations, k), {"policy": "crag", "k": k})
        elif name == UNIFORM:
            for seed in seeds:
                yield Baseline(f"{name}-seed{seed}", UniformController(seed), {"policy": UNIFORM, "seed": seed})
        elif name == ADAPTIVE:
            if adaptive is None:
                raise ConfigError("adaptive needs its fitted classifier")
            yield Baseline(name, adaptive, {"policy": ADAPTIVE, "fingerprint": adaptive.fingerprint})
        else:
            yield Baseline(name, _SCHEDULES[name](features, operations), {"policy": name})
