"""How the synthetic world refers to an entity: by title, by a name in running text, by a description in a question."""

from __future__ import annotations

from typing import NamedTuple

from .world_ground import Ground
from .world_names import WORKS
from .world_random import Draws
from .world_schema import Entity

_ALIAS_PERCENT = 25
_NOUNS = {kind: f"the {kind} " for kind in WORKS} | {
    "company": "the company ",
    "team": "the football club ",
    "city": "the city of ",
    "river": "the ",
    "festival": "the ",
    "award": "the ",
}


class Mention(NamedTuple):
    """A reference: as it is written, and the bare name in it."""

    written: str
    name: str


class Mentions:
    """Refers to entities so that nobody else can be meant.

    An alias belongs to one entity only. A name that two entities of a kind share is followed by a qualifier in
    parentheses, even where the titles of the two articles are equal.

    Args:
        ground: the facts that qualifiers take.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._names = ground.names

    def title(self, entity: Entity) -> str:
        """Return the title of an entity's article; two articles may share one."""
        name = self._names.name(entity)
        if not self._names.ambiguous(entity):
            return name
        double = self._names.base(entity) is not None
        style = min(entity, self._names.twin(entity) or entity).number % 4
        plain = style == 0 or (style == 1 and not double)
        return name if plain else f"{name} ({self._qualifier(entity)})"

    def names(self, entity: Entity) -> tuple[str, ...]:
        """Return the name, then the alias if there is one."""
        alias = self._names.alias(entity)
        return (self._names.name(entity),) if alias is None else (self._names.name(entity), alias)

    def in_text(self, entity: Entity, draws: Draws) -> Mention:
        """Refer to an entity in the article of another one."""
        alias = self._names.alias(entity) if draws.chance(_ALIAS_PERCENT) else None
        if alias is not None:
            return Mention(alias, alias)
        name = self._names.name(entity)
        if not self._names.ambiguous(entity):
            return Mention(name, name)
        return Mention(f"{name} ({self._qualifier(entity)})", name)

    def in_question(self, entity: Entity, draws: Draws) -> Mention:
        """Refer to an entity in a question, saying of what kind it is where the name alone does not tell."""
        alias = self._names.alias(entity) if draws.chance(_ALIAS_PERCENT) else None
        noun = _NOUNS.get(entity.kind, "")
        if alias is not None:
            return Mention(noun + alias, alias)
        name = self._names.name(entity)
        if not self._names.ambiguous(entity):
            return Mention(noun + name, name)
        if entity.kind == "person":
            return Mention(f"{name} ({self._qualifier(entity)})", name)
        return Mention(f"the {self._qualifier(entity)} {name}", name)

    def _qualifier(self, entity: Entity) -> str:
        if entity.kind == "person":
            return f"born {self._ground.birth_year(entity.number)}"
        return f"{self._ground.year(entity)} {entity.kind}"
