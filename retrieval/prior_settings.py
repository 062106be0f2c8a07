"""How far each type of source is trusted before anything is read: configuration, since such priors are assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import Any

from ..data.bounds import require_least
from ..data.errors import ConfigError
from ..data.records import content_hash
from .source_types import UNKNOWN

PUBLISHED: Mapping[str, float] = MappingProxyType(
    {
        "peer_reviewed": 0.95,
        "government": 0.90,
        "established_news": 0.75,
        "organization_report": 0.70,
        "blog": 0.50,
        "user_generated": 0.40,
        "unknown": 0.35,
        "ai_generated": 0.30,
    }
)
"""The priors of arXiv 2607.22584."""

DEFAULT: Mapping[str, float] = MappingProxyType({**PUBLISHED, "encyclopedia": 0.75, "wikipedia": 0.75})
"""The published priors, and ours of encyclopedias that are edited in common: that of established news."""


@dataclass(frozen=True)
class PriorSettings:
    """Whether and how hits are weighted by the type of their source.

    Attributes:
        enabled: whether they are.
        priors: the trust in each type of source, above 0 and at most 1; types that are not named here are refused.
        default: type of the passages that state none; its prior is also that of stated types without one.
        expansion: how many times as many hits are weighted as are kept, at least 1.
        eta: weight in [0, 1] of the neighbours' priors in a passage's own; 0 for no smoothing.
        neighbours: how many neighbours are looked at, at least 1.

    Raises:
        ConfigError: if a number is out of range, or the default is no type.
    """

    enabled: bool = False
    priors: dict[str, float] = field(default_factory=lambda: dict(DEFAULT))
    default: str = UNKNOWN
    expansion: int = 3
    eta: float = 0.0
    neighbours: int = 5

    def __post_init__(self) -> None:
        wrong = {kind: prior for kind, prior in self.priors.items() if not (isfinite(prior) and 0 < prior <= 1)}
        if wrong:
            raise ConfigError(f"priors.priors must be above 0 and at most 1, found {wrong}")
        if self.default not in self.priors:
            raise ConfigError(f"priors.default must be one of {', '.join(self.priors)}, found {self.default!r}")
        require_least(self, "priors", expansion=1, neighbours=1)
        if not 0 <= self.eta <= 1:
            raise ConfigError(f"priors.eta must be in [0, 1], found {self.eta}")

    def of(self, kind: str) -> float:
        """Return the prior of a type; that of the default where it is not named."""
        return self.priors.get(kind, self.priors[self.default])

    def source(self) -> dict[str, Any]:
        """Return what can change a result."""
        priors = {kind: self.priors[kind] for kind in sorted(self.priors)}
        named = {"enabled": self.enabled, "priors": priors, "default": self.default, "expansion": self.expansion}
        return {**named, "eta": self.eta, "neighbours": self.neighbours}

    @property
    def fingerprint(self) -> str:
        """A hash of what can change a result."""
        plain = self.source() | {"priors": sorted((kind, float(prior)) for kind, prior in self.priors.items())}
        return content_hash("priors", repr(sorted((plain | {"eta": float(self.eta)}).items())))


def spread(priors: Mapping[str, float], power: float) -> dict[str, float]:
    """Return priors drawn together (``power`` below 1) or apart (above 1), each to that power.

    Only ratios of priors change an order, and a power scales their logarithms.

    Args:
        priors: each above 0 and at most 1.
        power: positive.

    Raises:
        ConfigError: if the power is not positive and finite.
    """
    if not (isfinite(power) and power > 0):
        raise ConfigError(f"the power of a spread must be positive, found {power}")
    return {kind: float(prior) ** power for kind, prior in priors.items()}
