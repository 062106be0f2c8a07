"""The kinds of entities and the relations of the synthetic world, and how many of each a world of a given size has."""

from __future__ import annotations

from typing import NamedTuple

from .errors import ConfigError


class Entity(NamedTuple):
    """One thing that has an article: its kind and its number within the kind, from 0."""

    kind: str
    number: int


Value = Entity | int | str
"""What a relation leads to: an entity, a year or another number, or a date in words."""

KINDS = (
    "person",
    "film",
    "novel",
    "album",
    "song",
    "city",
    "region",
    "country",
    "company",
    "university",
    "river",
    "lake",
    "mountain",
    "festival",
    "award",
    "team",
)
KIND_NUMBER = {kind: i for i, kind in enumerate(KINDS)}

MIN_PASSAGES, MAX_PASSAGES = 300, 1_000_000

CULTURES = 6
GENERATIONS = 5

ROLE_SLOTS = (
    "director",
    "writer",
    "musician",
    "actor",
    "scientist",
    "entrepreneur",
    "director",
    "writer",
    "musician",
    "actor",
    "politician",
    "footballer",
)
"""The roles of twelve persons in a row of one generation."""

INDUSTRIES = ("film", "book", "record", "goods")
"""The trade of a company, by its number modulo 4."""

RELATIONS: dict[str, dict[str, str]] = {
    "person": {
        "birth_date": "date",
        "birth_year": "year",
        "death_date": "date",
        "death_year": "year",
        "born_in": "city",
        "educated_at": "university",
        "spouse": "person",
        "parent": "person",
        "award": "award",
        "employer": "university",
        "plays_for": "team",
        "known_film": "film",
        "known_novel": "novel",
        "known_album": "album",
        "known_company": "company",
    },
    "film": {
        "year": "year",
        "director": "person",
        "screenwriter": "person",
        "lead_actor": "person",
        "composer": "person",
        "studio": "company",
        "based_on": "novel",
    },
    "novel": {"year": "year", "author": "person", "publisher": "company", "set_in": "city"},
    "album": {"year": "year", "performer": "person", "producer": "person", "label": "company", "recorded_in": "city"},
    "song": {"year": "year", "album": "album", "songwriter": "person"},
    "city": {"year": "year", "region": "region", "river": "river", "mayor": "person", "population": "number"},
    "region": {"country": "country", "capital": "city", "highest_point": "mountain"},
    "country": {
        "year": "year",
        "capital": "city",
        "head_of_state": "person",
        "anthem_composer": "person",
        "longest_river": "river",
    },
    "company": {"year": "year", "founder": "person", "headquarters": "city"},
    "university": {"year": "year", "city": "city", "rector": "person"},
    "river": {"source": "mountain", "mouth": "lake", "length": "number"},
    "lake": {"region": "region", "depth": "number"},
    "mountain": {"region": "region", "height": "number", "climber": "person", "year": "year"},
    "festival": {"year": "year", "city": "city", "founder": "person"},
    "award": {"year": "year", "presenter": "festival", "named_after": "person"},
    "team": {"year": "year", "city": "city", "coach": "person", "owner": "company"},
}
"""Of each kind: its relations, each with the kind of entity or of literal it leads to; every one has a single value."""

ENTAILED = {"birth_date": "birth_year", "death_date": "death_year"}
"""Relations that a stated one states too."""

WRITTEN_ELSEWHERE = frozenset({"spouse", "director", "author", "performer", "founder", "region", "birth_year"})
"""Relations that another article may state, or imply, when the entity's own does not."""


def sizes(passages: int) -> dict[str, int]:
    """Return how many entities of each kind a world of ``passages`` articles has.

    Places nest (cities, mountains, lakes and rivers share out evenly over regions, regions over countries, countries
    over cultures), so their numbers are multiples of one another; films make up the rest.

    Raises:
        ConfigError: if the size is out of range.
    """
    if not MIN_PASSAGES <= passages <= MAX_PASSAGES:
        raise ConfigError(
            f"expected {MIN_PASSAGES} to {MAX_PASSAGES} passages, found {passages}; choose a size in that range"
        )
    country = CULTURES * min(max(passages // 1500, 1), 10)
    region = country * min(max(round(passages * 0.01 / country), 2), 40)
    block = len(ROLE_SLOTS) * GENERATIONS
    person = block * max(int(passages * 0.34) // block, 1)
    places = {"city": 0.08, "mountain": 0.02, "lake": 0.015, "river": 0.025}
    least = {"city": 2}
    out = {kind: region * max(round(passages * share / region), least.get(kind, 1)) for kind, share in places.items()}
    groups = {"company": 0.06, "university": 0.025, "festival": 0.02, "award": 0.02, "team": 0.02}
    works = {"novel": 0.09, "album": 0.06, "song": 0.05}
    out |= {kind: int(passages * share) for kind, share in (groups | works).items()}
    out |= {"person": person, "region": region, "country": country}
    out["film"] = passages - sum(out.values())
    return {kind: out[kind] for kind in KINDS}
