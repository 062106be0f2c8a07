"""What the synthetic world's facts rest on: who made what, when it began and what lies where, without any table."""

from __future__ import annotations

from .world_names import Names
from .world_people import People, generation_of, role_of
from .world_random import Assignment, Draws, mix
from .world_schema import CULTURES, INDUSTRIES, KIND_NUMBER, Entity

MAKERS = {
    "film": ("director", "director"),
    "novel": ("author", "writer"),
    "album": ("performer", "musician"),
    "company": ("founder", "entrepreneur"),
    "festival": ("founder", "director"),
}
"""Kinds of things that one person makes: the relation that says so, and the person's role."""

HOUSES = {"film": ("studio", "film"), "novel": ("publisher", "book"), "album": ("label", "record")}
"""Kinds of works that one company brings out: the relation that says so, and the company's trade."""

KNOWN_FOR = {"director": "film", "writer": "novel", "musician": "album", "entrepreneur": "company"}
_AFTER_BIRTH = {"film": 24, "novel": 24, "album": 24, "company": 24, "festival": 18}
_SINCE = {
    "city": (870, 900),
    "university": (1480, 450),
    "team": (1868, 110),
    "award": (1902, 90),
    "country": (1560, 400),
}


class Ground:
    """Answers what several articles must agree on.

    Chronology holds: parents are 16 to 34 years older than their children, and works and companies appear in the active
    life of their makers.

    Args:
        sizes: number of entities of each kind.
        seed: a 64-bit number.
        names: names of the same world.
    """

    def __init__(self, sizes: dict[str, int], seed: int, names: Names) -> None:
        self.sizes = sizes
        self.seed = mix(seed ^ 0xFAC7)
        self.names = names
        self.people = People(sizes["person"], self.seed)
        self._makers = {
            kind: Assignment(sizes[kind], self.people.role_count(role), mix(self.seed ^ mix(101 + i)))
            for i, (kind, (_, role)) in enumerate(MAKERS.items())
        }
        self._houses = {
            kind: Assignment(sizes[kind], sizes["company"] // len(INDUSTRIES), mix(self.seed ^ mix(201 + i)))
            for i, kind in enumerate(HOUSES)
        }

    def birth_year(self, person: int) -> int:
        """Return the year of birth: generations are 25 years apart and span 10."""
        return 1870 + 25 * generation_of(person) + mix(self.seed + person) % 10

    def year(self, entity: Entity) -> int:
        """Return the year in which anything but a person began."""
        year = self._first_year(entity)
        base = self.names.base(entity)
        return year + 1 if base is not None and year == self._first_year(base) else year

    def _first_year(self, entity: Entity) -> int:
        kind, number = entity
        chance = mix(self.seed ^ mix(KIND_NUMBER[kind] << 32 | number))
        if kind == "song":
            return self.year(self.album_of(number))
        if kind in MAKERS:
            return self.birth_year(self.maker(entity).number) + 22 + chance % _AFTER_BIRTH[kind]
        first, span = _SINCE[kind]
        return first + chance % span

    def maker(self, entity: Entity) -> Entity:
        """Return the person who made a film, novel or album, or founded a company or festival."""
        return self.people.of_role(MAKERS[entity.kind][1], self._makers[entity.kind].target(entity.number))

    def made_by(self, person: Entity, kind: str) -> list[Entity]:
        """Return everything of a kind that a person of the right role made."""
        return [Entity(kind, n) for n in self._makers[kind].sources(self.people.rank(person.number))]

    def house(self, work: Entity) -> Entity:
        """Return the company that brought out a film, novel or album."""
        trade = INDUSTRIES.index(HOUSES[work.kind][1])
        return Entity("company", trade + len(INDUSTRIES) * self._houses[work.kind].target(work.number))

    def oeuvre(self, entity: Entity) -> list[Entity]:
        """Return what a person of some roles made, or what a company brought out; empty for all others."""
        if entity.kind == "person":
            made = KNOWN_FOR.get(role_of(entity.number))
            return [] if made is None else self.made_by(entity, made)
        return self._catalogue(entity.number) if entity.kind == "company" else []

    def _catalogue(self, company: int) -> list[Entity]:
        row, trade = divmod(company, len(INDUSTRIES))
        kind = next((kind for kind, (_, t) in HOUSES.items() if t == INDUSTRIES[trade]), None)
        complete = row < self.sizes["company"] // len(INDUSTRIES)
        return [Entity(kind, n) for n in self._houses[kind].sources(row)] if kind is not None and complete else []

    def any_of(self, kind: str, draws: Draws) -> Entity:
        """Choose an entity of a kind."""
        return Entity(kind, draws.below(self.sizes[kind]))

    def album_of(self, song: int) -> Entity:
        """Return the album that a song is on."""
        return Entity("album", mix(self.seed ^ mix(song)) % self.sizes["album"])

    def sibling(self, entity: Entity, draws: Draws) -> Entity:
        """Choose another entity that shares a maker or, for places, a region with this one; itself if there is none."""
        kind, number = entity
        if kind in MAKERS:
            return draws.pick([e for e in self.made_by(self.maker(entity), kind) if e != entity] or [entity])
        regions = self.sizes["region"]
        rows = self.sizes[kind] // regions
        row = (number // regions + 1 + draws.below(max(rows - 1, 1))) % rows
        return Entity(kind, number % regions + regions * row)

    def neighbour(self, entity: Entity, draws: Draws) -> Entity:
        """Choose another entity of the same kind."""
        step = 1 + draws.below(self.sizes[entity.kind] - 1)
        return Entity(entity.kind, (entity.number + step) % self.sizes[entity.kind])

    def within(self, kind: str, place: int, draws: Draws) -> Entity:
        """Choose an entity in the region that a place, or the region of this number, belongs to."""
        regions = self.sizes["region"]
        return Entity(kind, place % regions + regions * draws.below(self.sizes[kind] // regions))

    def cultural(self, kind: str, culture: int, draws: Draws) -> Entity:
        """Choose an entity of a kind that is numbered by culture."""
        return Entity(kind, culture + CULTURES * draws.below(self.sizes[kind] // CULTURES))

    def company_of(self, trade: str, draws: Draws) -> Entity:
        """Choose a company of a trade."""
        step = len(INDUSTRIES)
        return Entity("company", INDUSTRIES.index(trade) + step * draws.below(self.sizes["company"] // step))
