"""Articles of the synthetic world: a few sentences that state some of an entity's facts, not all of them."""

from __future__ import annotations

from dataclasses import dataclass

from .records import Passage
from .world_facts import Facts
from .world_ground import Ground
from .world_mentions import Mentions
from .world_people import role_of
from .world_random import Draws, mix
from .world_schema import ENTAILED, INDUSTRIES, KIND_NUMBER, Entity, Value
from .world_templates import PHRASEBOOKS, Template
from .world_wordbook import OEUVRE_WORDS, ROLE_WORDS, TRADE_WORDS, WORDBOOK

_MIN_SENTENCES, _MAX_SENTENCES = 3, 7
_MAX_FACT_SENTENCES = 4
_STATED_PERCENT = 78
_LISTED_PERCENT = 65
_LONGEST_LIST = 5
_SUBJECTS = {
    "film": ("The film", "It", "The picture"),
    "novel": ("The novel", "It", "The book"),
    "album": ("The album", "It", "The record"),
    "song": ("The song", "It"),
    "city": ("The city", "It"),
    "region": ("The region", "It"),
    "company": ("The company", "It", "The firm"),
    "university": ("The school", "It"),
    "team": ("The club", "It"),
}


@dataclass(frozen=True, slots=True)
class Article:
    """A passage and what it says.

    Attributes:
        entity: what it is about.
        passage: its title and sentences.
        facts: every fact of the entity, stated or not.
        sentence_of: of each relation that the text states, the index of the sentence.
        wording_of: of each relation that the text states, its value as written there, without a qualifier.
    """

    entity: Entity
    passage: Passage
    facts: dict[str, Value]
    sentence_of: dict[str, int]
    wording_of: dict[str, str]


class Articles:
    """Writes articles.

    Args:
        ground: what facts rest on.
        mentions: how others are referred to.
    """

    def __init__(self, ground: Ground, mentions: Mentions) -> None:
        self._ground = ground
        self._facts = Facts(ground)
        self._mentions = mentions
        self._seed = mix(ground.seed ^ 0xA27)

    def of(self, entity: Entity) -> Article:
        """Write an entity's article; a double's is phrased like the one that it doubles."""
        style = self._ground.names.base(entity) or entity
        draws = Draws(self._seed, KIND_NUMBER[entity.kind], style.number)
        facts = self._facts.of(entity)
        writer = _Writer(self._ground, self._mentions, entity, facts, draws)
        written = [writer.write(template) for template in self._plan(entity, facts, draws)]
        return _article(entity, self._mentions.title(entity), facts, written)

    def _plan(self, entity: Entity, facts: dict[str, Value], draws: Draws) -> list[Template]:
        """Choose the templates: the opening, then the others in any order."""
        book = PHRASEBOOKS[entity.kind]
        opening = draws.pick([t for t in book.openings if t.needs <= facts.keys()])
        chosen = _fact_templates(book.stating, [r for r in facts if r not in opening.needs], draws)
        if self._ground.names.alias(entity) is not None:
            chosen.append(draws.pick(book.aliases))
        if book.lists and draws.chance(_LISTED_PERCENT) and self._ground.oeuvre(entity):
            chosen.append(draws.pick(book.lists))
        wanted = max(1 + draws.below(2), _MIN_SENTENCES - 1 - len(chosen))
        chosen += draws.sample(book.fillers, min(wanted, _MAX_SENTENCES - 1 - len(chosen)))
        return [opening, *draws.shuffled(chosen)]


def _fact_templates(stating: dict[str, tuple[Template, ...]], relations: list[str], draws: Draws) -> list[Template]:
    """Choose sentences that state most of the relations, each of them once."""
    left = [r for r in draws.shuffled(relations) if r in stating and draws.chance(_STATED_PERCENT)]
    open_still = set(left)
    chosen: list[Template] = []
    for relation in left:
        fitting = [t for t in stating[relation] if t.needs <= open_still] if relation in open_still else []
        if fitting and len(chosen) < _MAX_FACT_SENTENCES:
            chosen.append(draws.pick(fitting))
            open_still -= chosen[-1].needs
    return chosen


class _Writer:
    """Fills the gaps of templates for one entity."""

    def __init__(
        self, ground: Ground, mentions: Mentions, entity: Entity, facts: dict[str, Value], draws: Draws
    ) -> None:
        self._ground = ground
        self._mentions = mentions
        self._facts = facts
        self._draws = draws
        self._era = _era(facts)
        self._entity = entity
        self._grammar = self._person(entity) if entity.kind == "person" else self._thing(entity)
        self._grammar["T"] = ground.names.name(entity)
        self._grammar["alias"] = ground.names.alias(entity) or ""

    def _person(self, entity: Entity) -> dict[str, str]:
        woman = self._ground.names.feminine(entity)
        parent = self._facts.get("parent")
        elder = "mother" if isinstance(parent, Entity) and self._ground.names.feminine(parent) else "father"
        pronouns = (
            ("She", "she", "Her", "her", "her", "daughter") if woman else ("He", "he", "His", "his", "him", "son")
        )
        grammar = dict(zip(("S", "s", "P", "p", "o", "kid"), pronouns))
        role = role_of(entity.number)
        be = "was" if "death_date" in self._facts else "is"
        return grammar | {"be": be, "elder": elder, "role": ROLE_WORDS[role], "made": OEUVRE_WORDS.get(role, "")}

    def _thing(self, entity: Entity) -> dict[str, str]:
        trade = TRADE_WORDS[INDUSTRIES[entity.number % len(INDUSTRIES)]]
        return {"s": "it", "trade": trade, "subjects": entity.kind}

    def write(self, template: Template) -> tuple[str, dict[str, str]]:
        """Return the sentence, and the values of the relations that it states as it words them."""
        gaps, stated = {}, {}
        for relation in template.relations:
            gaps[relation], stated[relation] = self._value(self._facts[relation], relation)
        for gap in template.others:
            gaps[gap] = self._filling(gap)
        sentence = template.text.format_map(gaps).replace(" a 18", " an 18")
        return sentence[0].upper() + sentence[1:], stated

    def _value(self, value: Value, relation: str) -> tuple[str, str]:
        if isinstance(value, Entity):
            return self._mentions.in_text(value, self._draws)
        text = f"{value:,}" if relation == "population" else str(value)
        return text, text

    def _filling(self, gap: str) -> str:
        if gap in WORDBOOK:
            return self._draws.pick(WORDBOOK[gap])
        if gap in self._grammar:
            return self._grammar[gap]
        if gap == "S":
            return self._draws.pick(_SUBJECTS.get(self._grammar["subjects"], ("It",)))
        return self._passing(gap)

    def _passing(self, gap: str) -> str:
        if gap == "sometime":
            return str(min(self._era + self._draws.below(40), 2023))
        if gap == "oeuvre":
            works = self._ground.oeuvre(self._entity)
            listed = self._draws.sample(works, min(len(works), _LONGEST_LIST))
            return ", ".join(self._mentions.in_text(work, self._draws).written for work in listed)
        kind = {"somebody": "person", "somewhere": "city"}[gap]
        return self._mentions.in_text(self._ground.any_of(kind, self._draws), self._draws).written


def _era(facts: dict[str, Value]) -> int:
    """Return a year in which the entity was there."""
    born, began = facts.get("birth_year"), facts.get("year")
    if isinstance(born, int):
        return born + 20
    return max(began, 1880) + 1 if isinstance(began, int) else 1900


def _article(entity: Entity, title: str, facts: dict[str, Value], written: list[tuple[str, dict[str, str]]]) -> Article:
    sentence_of, wording_of = {}, {}
    for index, (_, stated) in enumerate(written):
        for relation, wording in stated.items():
            sentence_of[relation], wording_of[relation] = index, wording
    for relation, entailed in ENTAILED.items():
        if relation in sentence_of:
            sentence_of[entailed], wording_of[entailed] = sentence_of[relation], wording_of[relation].rsplit(" ", 1)[-1]
    return Article(entity, Passage.of(title, (sentence for sentence, _ in written)), facts, sentence_of, wording_of)
