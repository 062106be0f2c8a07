"""Names of the synthetic world's entities: each follows from seed, kind and number alone, without any table."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil

from .world_lexicon import (
    ADJECTIVES,
    BUILDINGS,
    CLUBS,
    CULTURE_GRAMMARS,
    DEEDS,
    FEASTS,
    HONOURS,
    MATERIALS,
    NOUNS,
    OWNERS,
    PREFIXES,
    SHAPES,
    SIGNS,
)
from .world_random import Permutation, mix
from .world_schema import CULTURES, INDUSTRIES, KIND_NUMBER, Entity

WORKS = ("film", "novel", "album", "song")
ALIASED = frozenset({"person", "film", "novel", "album", "city", "country", "company", "university", "river"})
DOUBLED = frozenset({"person", "city", "company", *WORKS})

_DOUBLES_PERCENT = 8
_ALIAS_PERCENT = 30
_FIRST_NAMES = 24
_TAGS = {
    "university": BUILDINGS,
    "festival": FEASTS,
    "award": HONOURS,
    "team": CLUBS,
    "river": ("{} River", "River {}"),
    "lake": ("Lake {}",),
    "mountain": ("Mount {}", "{} Peak"),
    "region": ("{} Province", "{} Territory"),
}
_WORD_TITLES = (
    len(ADJECTIVES) * len(NOUNS),
    len(NOUNS) * len(MATERIALS),
    len(OWNERS) * len(NOUNS),
    len(DEEDS) * len(NOUNS),
)


class Names:
    """Spells names.

    Within a kind all names and aliases differ, except that the last 8 % of persons, works, cities and companies are
    *doubles* of the first ones: persons and works mostly repeat the name, the others vary it.

    Args:
        sizes: number of entities of each kind.
        seed: a 64-bit number.
    """

    def __init__(self, sizes: dict[str, int], seed: int) -> None:
        self._sizes = sizes
        self._keys = {kind: mix(seed ^ mix(7919 + i)) for kind, i in KIND_NUMBER.items()}
        people = sizes["person"]
        self._surnames = max(people // 3, ceil(2.2 * people / _FIRST_NAMES))
        self._people = Permutation(_FIRST_NAMES * self._surnames, self._keys["person"])
        self._titles = {kind: Permutation(sum(_WORD_TITLES), self._keys[kind]) for kind in WORKS}
        self._doubles = {kind: self._count_doubles(kind) for kind in DOUBLED}
        self.name = lru_cache(maxsize=65_536)(self._name)
        self.alias = lru_cache(maxsize=65_536)(self._alias)

    def _count_doubles(self, kind: str) -> int:
        """A double's number is never a multiple of 5 away from its base, so persons differ in generation."""
        count = max(self._sizes[kind] * _DOUBLES_PERCENT // 100, 1)
        return count + 1 if count % 5 == 0 else count

    def base(self, entity: Entity) -> Entity | None:
        """Return the entity whose name ``entity`` repeats or varies, if it is a double."""
        kind, number = entity
        if kind not in DOUBLED:
            return None
        first = self._sizes[kind] - self._doubles[kind]
        return Entity(kind, number - first) if number >= first else None

    def twin(self, entity: Entity) -> Entity | None:
        """Return the other one of the pair, if ``entity`` is a double or has one."""
        kind, number = entity
        if kind in DOUBLED and number < self._doubles[kind]:
            return Entity(kind, self._sizes[kind] - self._doubles[kind] + number)
        return self.base(entity)

    def ambiguous(self, entity: Entity) -> bool:
        """Return True if another entity of this kind has the same name."""
        twin = self.twin(entity)
        return twin is not None and entity.kind not in ("city", "company") and min(entity.number, twin.number) % 4 != 3

    def feminine(self, entity: Entity) -> bool:
        """Return True for a woman."""
        base = self.base(entity) or entity
        return mix(self._keys["person"] + base.number) % 2 == 1

    def culture(self, entity: Entity) -> int:
        """Return the culture, in [0, 6), to which a name belongs."""
        base = self.base(entity) or entity
        if entity.kind == "person":
            return self._people(base.number) // _FIRST_NAMES % CULTURES
        return base.number % CULTURES

    def _name(self, entity: Entity) -> str:
        base = self.base(entity)
        if base is None:
            return self._spelled(entity.kind, entity.number)
        return self._varied(entity, self._spelled(entity.kind, base.number), base.number)

    def _varied(self, entity: Entity, name: str, number: int) -> str:
        if entity.kind == "city":
            return f"{PREFIXES[number % len(PREFIXES)]} {name}"
        if entity.kind == "company":
            return f"{name} International"
        if self.ambiguous(entity):
            return name
        return f"{name} the Younger" if entity.kind == "person" else f"{name} II"

    def _alias(self, entity: Entity) -> str | None:
        kind, number = entity
        if kind not in ALIASED or mix(self._keys[kind] + number) % 100 >= _ALIAS_PERCENT:
            return None
        if kind == "country":
            return f"Republic of {self.name(entity)}"
        return self._spelled(kind, number + self._sizes[kind])

    def _spelled(self, kind: str, number: int) -> str:
        """Spell the name of this number; numbers from 0 to twice the size of the kind all give different names."""
        if kind == "person":
            return self._person(number)
        if kind in WORKS:
            return self._title(kind, number)
        culture, row = number % CULTURES, number // CULTURES
        if kind in ("city", "country"):
            return self._word(kind, culture, row, "place" if kind == "city" else "land")
        stem = self._word(kind, culture, row, "stem")
        tags = SIGNS[INDUSTRIES[number % len(INDUSTRIES)]] if kind == "company" else _TAGS[kind]
        tag = tags[row % len(tags)]
        return tag.format(stem) if "{}" in tag else f"{stem} {tag}"

    def _person(self, number: int) -> str:
        surname, first = divmod(self._people(number), _FIRST_NAMES)
        culture, row = surname % CULTURES, surname // CULTURES
        gender = "female" if self.feminine(Entity("person", number % self._sizes["person"])) else "male"
        given = _given_names(self._keys["film"] + culture, culture, gender)[first]
        return f"{given} {self._word('person', culture, row, 'surname')}"

    def _title(self, kind: str, number: int) -> str:
        """Two of three titles are made of words, as long as there are any left, the others hold an invented word."""
        row, third = divmod(number, 3)
        if third < 2 and 2 * row + third < self._titles[kind].n:
            return _word_title(self._titles[kind](2 * row + third))
        culture, row = number % CULTURES, number // CULTURES
        return f"{self._word(kind, culture, row, 'stem')} {SHAPES[row % len(SHAPES)]}"

    def _word(self, kind: str, culture: int, row: int, endings: str) -> str:
        need = 2 * max(self._sizes[kind], self._surnames if kind == "person" else 0) // CULTURES + 1
        return _word(culture, endings, _spread(culture, endings, need, self._keys[kind])(row))


@lru_cache(maxsize=512)
def _spread(culture: int, endings: str, need: int, key: int) -> Permutation:
    """Return the order in which words are used: short ones only, as long as they suffice."""
    grammar = CULTURE_GRAMMARS[culture]
    short = len(grammar.onsets) * len(grammar.vowels) * len(grammar.links)
    return Permutation(max(short * len(getattr(grammar, endings)), need), key)


@lru_cache(maxsize=512)
def _given_names(key: int, culture: int, gender: str) -> tuple[str, ...]:
    grammar = CULTURE_GRAMMARS[culture]
    short = len(grammar.onsets) * len(grammar.vowels) * len(grammar.links)
    order = Permutation(short * len(getattr(grammar, gender)), key)
    return tuple(_word(culture, gender, order(i)) for i in range(_FIRST_NAMES))


def _word(culture: int, endings: str, number: int) -> str:
    """Spell the word of this number: its digits choose onset, vowel, link, ending and perhaps more syllables."""
    grammar = CULTURE_GRAMMARS[culture]
    tails: tuple[str, ...] = getattr(grammar, endings)
    number, onset = divmod(number, len(grammar.onsets))
    number, vowel = divmod(number, len(grammar.vowels))
    number, link = divmod(number, len(grammar.links))
    number, tail = divmod(number, len(tails))
    word = grammar.onsets[onset] + grammar.vowels[vowel] + grammar.links[link]
    while number:
        number, vowel = divmod(number - 1, len(grammar.vowels))
        number, link = divmod(number, len(grammar.links))
        word += grammar.vowels[vowel] + grammar.links[link]
    return (word + tails[tail]).capitalize()


def _word_title(number: int) -> str:
    pattern = 0
    while number >= _WORD_TITLES[pattern]:
        number -= _WORD_TITLES[pattern]
        pattern += 1
    other, noun = divmod(number, len(NOUNS))
    return _TITLE_PATTERNS[pattern](other, NOUNS[noun])


_TITLE_PATTERNS: tuple[Callable[[int, str], str], ...] = (
    lambda i, noun: f"The {ADJECTIVES[i]} {noun}",
    lambda i, noun: f"{noun} of {MATERIALS[i]}",
    lambda i, noun: f"The {OWNERS[i]}'s {noun}",
    lambda i, noun: f"{DEEDS[i]} the {noun}",
)
