"""How the persons of the synthetic world are numbered: five generations, each with the same succession of roles."""

from __future__ import annotations

from .world_random import Draws, Permutation
from .world_schema import GENERATIONS, ROLE_SLOTS, Entity

_SLOTS = {role: tuple(i for i, r in enumerate(ROLE_SLOTS) if r == role) for role in dict.fromkeys(ROLE_SLOTS)}
_RANK = tuple(ROLE_SLOTS[:i].count(role) for i, role in enumerate(ROLE_SLOTS))


def role_of(person: int) -> str:
    """Return what a person does."""
    return ROLE_SLOTS[person // GENERATIONS % len(ROLE_SLOTS)]


def generation_of(person: int) -> int:
    """Return a person's generation, in [0, 5), the eldest first."""
    return person % GENERATIONS


class People:
    """Finds persons by role and generation without a table.

    Args:
        count: number of persons, a multiple of 60.
        key: a 64-bit number.
    """

    def __init__(self, count: int, key: int) -> None:
        self._row = count // GENERATIONS
        self._blocks = self._row // len(ROLE_SLOTS)
        self._couples = Permutation(self._row, key)

    def role_count(self, role: str) -> int:
        """Return how many persons have a role."""
        return self._blocks * len(_SLOTS[role]) * GENERATIONS

    def of_role(self, role: str, rank: int) -> Entity:
        """Return the person of a role with this rank, in [0, role_count)."""
        position, generation = divmod(rank, GENERATIONS)
        slots = _SLOTS[role]
        block, slot = divmod(position, len(slots))
        return Entity("person", (block * len(ROLE_SLOTS) + slots[slot]) * GENERATIONS + generation)

    def rank(self, person: int) -> int:
        """Return a person's rank among those of the same role: the inverse of ``of_role``."""
        position, generation = divmod(person, GENERATIONS)
        block, slot = divmod(position, len(ROLE_SLOTS))
        slots = _SLOTS[ROLE_SLOTS[slot]]
        return (block * len(slots) + _RANK[slot]) * GENERATIONS + generation

    def draw(self, role: str, generation: int, draws: Draws) -> Entity:
        """Choose a person of this role and generation."""
        position = draws.below(self._blocks * len(_SLOTS[role]))
        return self.of_role(role, position * GENERATIONS + generation)

    def anyone(self, generation: int, draws: Draws) -> Entity:
        """Choose a person of this generation."""
        return Entity("person", draws.below(self._row) * GENERATIONS + generation)

    def spouse(self, person: int) -> Entity:
        """Return the spouse, of the same generation; the spouse's spouse is the person."""
        position, generation = divmod(person, GENERATIONS)
        other = self._couples.inverse(self._couples(position) ^ 1)
        return Entity("person", other * GENERATIONS + generation)

    def parent(self, person: int, draws: Draws) -> Entity | None:
        """Choose a parent in the generation before; the eldest have none on record."""
        generation = generation_of(person)
        return None if generation == 0 else self.anyone(generation - 1, draws)
