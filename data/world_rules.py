"""The rules from which the synthetic world's facts follow: for each kind of entity, what its relations lead to."""

from __future__ import annotations

from collections.abc import Callable

from .world_ground import Ground
from .world_lexicon import MONTHS
from .world_people import generation_of, role_of
from .world_random import Draws
from .world_schema import CULTURES, Entity, Value


def _city(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    return {
        "year": ground.year(Entity("city", number)),
        "region": Entity("region", number % ground.sizes["region"]),
        "river": ground.within("river", number, draws),
        "mayor": ground.people.anyone(4, draws),
        "population": 1_000 * (4 + draws.below(900)) + draws.below(1_000),
    }


def _person(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    person, born = Entity("person", number), ground.birth_year(number)
    culture = ground.names.culture(person)
    facts: dict[str, Value] = {
        "birth_date": _date(born, draws),
        "birth_year": born,
        "born_in": ground.cultural("city", culture, draws),
        "educated_at": ground.any_of("university", draws),
        "spouse": ground.people.spouse(number),
        "award": ground.any_of("award", draws),
    }
    parent = ground.people.parent(number, draws)
    return (
        facts
        | ({} if parent is None else {"parent": parent})
        | _end(ground, number, draws)
        | _work(ground, person, draws)
    )


def _end(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    generation = generation_of(number)
    year = min(ground.birth_year(number) + 56 + draws.below(34), 2022)
    date = _date(year, draws)
    dead = generation < 3 or (generation == 3 and draws.chance(50))
    return {"death_date": date, "death_year": year} if dead else {}


def _work(ground: Ground, person: Entity, draws: Draws) -> dict[str, Value]:
    role = role_of(person.number)
    if role == "scientist":
        return {"employer": ground.any_of("university", draws)}
    if role == "footballer":
        return {"plays_for": ground.any_of("team", draws)}
    made = ground.oeuvre(person)
    return {f"known_{made[0].kind}": draws.pick(made)} if made else {}


def _film(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    film = Entity("film", number)
    year, director = ground.year(film), ground.maker(film)
    era = generation_of(director.number)
    facts: dict[str, Value] = {
        "year": year,
        "director": director,
        "screenwriter": ground.people.draw("writer", era, draws),
        "lead_actor": ground.people.draw("actor", era, draws),
        "composer": ground.people.draw("musician", era, draws),
        "studio": ground.house(film),
    }
    novel = ground.any_of("novel", draws)
    return facts | ({"based_on": novel} if draws.chance(50) and ground.year(novel) < year else {})


def _novel(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    novel = Entity("novel", number)
    return {
        "year": ground.year(novel),
        "author": ground.maker(novel),
        "publisher": ground.house(novel),
        "set_in": ground.any_of("city", draws),
    }


def _album(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    album = Entity("album", number)
    performer = ground.maker(album)
    return {
        "year": ground.year(album),
        "performer": performer,
        "producer": ground.people.draw("musician", generation_of(performer.number), draws),
        "label": ground.house(album),
        "recorded_in": ground.any_of("city", draws),
    }


def _song(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    album = ground.album_of(number)
    era = generation_of(ground.maker(album).number)
    songwriter = ground.people.draw("musician", era, draws)
    return {"year": ground.year(Entity("song", number)), "album": album, "songwriter": songwriter}


def _region(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    return {
        "country": Entity("country", number % ground.sizes["country"]),
        "capital": ground.within("city", number, draws),
        "highest_point": ground.within("mountain", number, draws),
    }


def _country(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    region = number + ground.sizes["country"] * draws.below(ground.sizes["region"] // ground.sizes["country"])
    return {
        "year": ground.year(Entity("country", number)),
        "capital": ground.within("city", region, draws),
        "head_of_state": ground.people.draw("politician", 4, draws),
        "anthem_composer": ground.people.draw("musician", draws.below(4), draws),
        "longest_river": ground.within("river", region, draws),
    }


def _company(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    company = Entity("company", number)
    headquarters = ground.any_of("city", draws)
    return {"year": ground.year(company), "founder": ground.maker(company), "headquarters": headquarters}


def _university(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    rector = ground.people.draw("scientist", 3 + draws.below(2), draws)
    city = ground.cultural("city", number % CULTURES, draws)
    return {"year": ground.year(Entity("university", number)), "city": city, "rector": rector}


def _river(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    source, mouth = ground.within("mountain", number, draws), ground.within("lake", number, draws)
    return {"source": source, "mouth": mouth, "length": 40 + draws.below(940)}


def _lake(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    return {"region": Entity("region", number % ground.sizes["region"]), "depth": 12 + draws.below(380)}


def _mountain(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    climber = ground.people.draw("scientist", draws.below(4), draws)
    return {
        "region": Entity("region", number % ground.sizes["region"]),
        "height": 1_100 + draws.below(6_800),
        "climber": climber,
        "year": ground.birth_year(climber.number) + 21 + draws.below(25),
    }


def _festival(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    festival = Entity("festival", number)
    return {"year": ground.year(festival), "city": ground.any_of("city", draws), "founder": ground.maker(festival)}


def _award(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    role = draws.pick(("scientist", "writer", "actor"))
    named_after = ground.people.draw(role, draws.below(2), draws)
    presenter = ground.any_of("festival", draws)
    return {"year": ground.year(Entity("award", number)), "presenter": presenter, "named_after": named_after}


def _team(ground: Ground, number: int, draws: Draws) -> dict[str, Value]:
    return {
        "year": ground.year(Entity("team", number)),
        "city": ground.cultural("city", number % CULTURES, draws),
        "coach": ground.people.draw("footballer", 3 + draws.below(2), draws),
        "owner": ground.company_of("goods", draws),
    }


def _date(year: int, draws: Draws) -> str:
    return f"{1 + draws.below(28)} {draws.pick(MONTHS)} {year}"


RULES: dict[str, Callable[[Ground, int, Draws], dict[str, Value]]] = {
    "person": _person,
    "film": _film,
    "novel": _novel,
    "album": _album,
    "song": _song,
    "city": _city,
    "region": _region,
    "country": _country,
    "company": _company,
    "university": _university,
    "river": _river,
    "lake": _lake,
    "mountain": _mountain,
    "festival": _festival,
    "award": _award,
    "team": _team,
}
"""Of each kind: its rule, a function of the ground, the entity's number and its own draws."""
