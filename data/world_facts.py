"""The facts of the synthetic world: what every relation of every entity leads to, computed when asked for."""

from __future__ import annotations

from .world_ground import Ground
from .world_random import Draws
from .world_rules import RULES
from .world_schema import KIND_NUMBER, Entity, Value

_KEPT = {
    "person": ("born_in", "educated_at", "award"),
    "film": ("lead_actor", "composer", "screenwriter"),
    "novel": ("set_in",),
    "album": ("producer", "recorded_in"),
    "song": ("songwriter",),
    "city": ("river",),
    "company": ("headquarters",),
}
"""What a double has in common with its base, so that their articles are easily taken for one another."""


class Facts:
    """Computes the facts of any entity.

    Args:
        ground: what they rest on.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def of(self, entity: Entity) -> dict[str, Value]:
        """Return every fact of an entity, keyed by relation."""
        facts = self._own(entity)
        base = self._ground.names.base(entity)
        if base is not None:
            shared = self._own(base)
            facts |= {name: shared[name] for name in _KEPT[entity.kind] if name in facts and name in shared}
        return facts

    def _own(self, entity: Entity) -> dict[str, Value]:
        kind, number = entity
        draws = Draws(self._ground.seed, KIND_NUMBER[kind], number)
        return RULES[kind](self._ground, number, draws)
