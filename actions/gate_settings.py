"""Settings of the corrective gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..confidence.refinement import RefinementSettings
from ..data.bounds import require_least
from ..data.errors import ConfigError


@dataclass(frozen=True)
class GateSettings:
    """How the gate corrects.

    Attributes:
        refinement: how documents are refined.
        searches: searches elsewhere that one run of the gate makes at most, at least 1.
        budget: searches elsewhere in an episode, at least 0; with 0 the gate never searches, and discards nothing.

    Raises:
        ConfigError: if a number is out of range.
    """

    refinement: RefinementSettings = field(default=RefinementSettings())
    searches: int = 2
    budget: int = 4

    def __post_init__(self) -> None:
        require_least(self, "gate", searches=1, budget=0)

    @classmethod
    def of(cls, source: Mapping[str, Any] | None) -> GateSettings:
        """Return the settings that a manifest holds, the defaults where it holds none.

        Raises:
            ConfigError: if it holds something else.
        """
        try:
            given = dict(source or {})
            refinement = RefinementSettings(**given.pop("refinement", {}))
            return cls(refinement, **given)
        except TypeError as error:
            raise ConfigError(f"the manifest names no gate that can be used ({error})") from error
