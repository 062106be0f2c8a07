"""Names, facts and articles of the synthetic world."""

from collections import Counter
from collections.abc import Iterator

import pytest

from evidencegym.data.text import name_spans, split_sentences
from evidencegym.data.world_articles import Article, Articles
from evidencegym.data.world_facts import Facts
from evidencegym.data.world_ground import HOUSES, MAKERS, Ground
from evidencegym.data.world_mentions import Mentions
from evidencegym.data.world_names import ALIASED, DOUBLED, Names
from evidencegym.data.world_people import generation_of, role_of
from evidencegym.data.world_random import Draws
from evidencegym.data.world_schema import KINDS, RELATIONS, Entity, sizes
from evidencegym.data.world_templates import PHRASEBOOKS
from evidencegym.data.world_wordings import ASKINGS

SIZE = 1200
KEY = 11


class Library:
    """The parts of one world, and all of its articles."""

    def __init__(self) -> None:
        self.sizes = sizes(SIZE)
        self.names = Names(self.sizes, KEY)
        self.ground = Ground(self.sizes, KEY, self.names)
        self.mentions = Mentions(self.ground)
        self.facts = Facts(self.ground)
        writer = Articles(self.ground, self.mentions)
        self.articles: dict[Entity, Article] = {e: writer.of(e) for e in self.entities()}

    def entities(self) -> Iterator[Entity]:
        return (Entity(kind, i) for kind in KINDS for i in range(self.sizes[kind]))


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def test_there_are_enough_kinds_relations_and_phrasings() -> None:
    relations = {name for table in RELATIONS.values() for name in table}
    assert len(KINDS) >= 8
    assert len(relations) >= 12
    for kind, asking in ASKINGS.items():
        stating, openings = PHRASEBOOKS[kind].stating, PHRASEBOOKS[kind].openings
        for relation, wording in asking.items():
            phrasings = [*stating.get(relation, ()), *(t for t in openings if relation in t.relations)]
            assert len(phrasings) >= 3 or relation in ("birth_year", "death_year"), (kind, relation)
            assert len(wording.asks) >= 2, (kind, relation)


def test_every_fact_leads_to_what_the_schema_says(library: Library) -> None:
    for entity in library.entities():
        for relation, value in library.facts.of(entity).items():
            target = RELATIONS[entity.kind][relation]
            if isinstance(value, Entity):
                assert value.kind == target
                assert 0 <= value.number < library.sizes[target]
            else:
                assert isinstance(value, str) == (target == "date")


def test_names_and_aliases_differ_except_for_namesakes(library: Library) -> None:
    for kind in KINDS:
        owners: dict[str, list[Entity]] = {}
        for entity in (e for e in library.entities() if e.kind == kind):
            for name in library.mentions.names(entity):
                owners.setdefault(name, []).append(entity)
        for sharing in owners.values():
            assert len(sharing) == 1 or all(library.names.ambiguous(e) for e in sharing)
            assert len(sharing) <= 2


@pytest.mark.parametrize("kind", KINDS)
def test_names_stay_different_in_the_largest_world(kind: str) -> None:
    counts = sizes(1_000_000)
    names = Names(counts, 3)
    plain = [e for i in range(min(counts[kind] // 2, 15_000)) for e in (Entity(kind, i),)]
    spelled = [name for e in plain for name in (names.name(e), names.alias(e)) if name]
    assert len(spelled) == len(set(spelled))


def test_namesakes_have_different_qualifiers_and_some_share_the_title(library: Library) -> None:
    equal = 0
    for entity in (e for e in library.entities() if library.names.ambiguous(e)):
        twin = library.names.twin(entity)
        assert twin is not None
        assert library.names.name(twin) == library.names.name(entity)
        references = {library.mentions.in_question(e, Draws(1)).written for e in (entity, twin)}
        assert len(references) == 2
        equal += library.mentions.title(twin) == library.mentions.title(entity)
    assert equal >= 10


def test_every_kind_that_may_have_doubles_and_aliases_has_some(library: Library) -> None:
    doubled = Counter(e.kind for e in library.entities() if library.names.base(e) is not None)
    aliased = Counter(e.kind for e in library.entities() if library.names.alias(e) is not None)
    assert set(doubled) == DOUBLED
    assert set(aliased) == ALIASED


def test_a_double_reads_like_its_base_with_other_facts(library: Library) -> None:
    overlaps = []
    for entity in (e for e in library.entities() if e.kind == "film" and library.names.base(e) is not None):
        base = library.names.base(entity)
        assert base is not None
        own, other = library.articles[entity], library.articles[base]
        assert own.passage.id != other.passage.id
        assert own.facts["director"] != other.facts["director"]
        assert own.facts["year"] != other.facts["year"]
        mine, theirs = set(own.passage.text.split()), set(other.passage.text.split())
        overlaps.append(len(mine & theirs) / len(mine | theirs))
    assert sum(overlaps) / len(overlaps) > 0.3


def test_spouses_are_mutual_and_parents_are_older(library: Library) -> None:
    for entity in (e for e in library.entities() if e.kind == "person"):
        facts = library.facts.of(entity)
        spouse, parent = facts["spouse"], facts.get("parent")
        assert isinstance(spouse, Entity)
        assert spouse != entity
        assert library.facts.of(spouse)["spouse"] == entity
        assert (parent is None) == (generation_of(entity.number) == 0)
        if isinstance(parent, Entity):
            gap = library.ground.birth_year(entity.number) - library.ground.birth_year(parent.number)
            assert 16 <= gap <= 34


def test_makers_and_houses_agree_with_what_they_made(library: Library) -> None:
    for entity in library.entities():
        facts = library.facts.of(entity)
        if entity.kind in MAKERS:
            relation, role = MAKERS[entity.kind]
            maker = facts[relation]
            assert isinstance(maker, Entity)
            assert role_of(maker.number) == role
            assert entity in library.ground.made_by(maker, entity.kind)
        if entity.kind in HOUSES:
            house = facts[HOUSES[entity.kind][0]]
            assert isinstance(house, Entity)
            assert entity in library.ground.oeuvre(house)


def test_places_lie_in_one_another(library: Library) -> None:
    for entity in (e for e in library.entities() if e.kind in ("region", "country", "river")):
        facts = library.facts.of(entity)
        if entity.kind == "region":
            for relation in ("capital", "highest_point"):
                place = facts[relation]
                assert isinstance(place, Entity)
                assert library.facts.of(place)["region"] == entity
        if entity.kind == "country":
            capital = facts["capital"]
            assert isinstance(capital, Entity)
            region = library.facts.of(capital)["region"]
            assert isinstance(region, Entity)
            assert library.facts.of(region)["country"] == entity


def test_articles_have_three_to_seven_sentences_that_the_splitter_finds(library: Library) -> None:
    lengths = Counter(len(a.passage.sentences) for a in library.articles.values())
    assert set(lengths) <= set(range(3, 8))
    assert len(lengths) == 5
    for article in library.articles.values():
        assert split_sentences(article.passage.text) == article.passage.sentences
        assert not any(c in article.passage.text for c in "{}")
        assert all(s[0].isupper() and s.endswith(".") for s in article.passage.sentences)


def test_an_article_names_its_entity_and_its_alias(library: Library) -> None:
    for entity, article in library.articles.items():
        for name in library.mentions.names(entity):
            assert name in article.passage.text


def test_stated_facts_are_where_the_article_says_and_readers_can_find_them(library: Library) -> None:
    for article in library.articles.values():
        for relation, index in article.sentence_of.items():
            sentence, wording = article.passage.sentences[index], article.wording_of[relation]
            value = article.facts[relation]
            assert wording in sentence
            if isinstance(value, Entity):
                assert wording in library.mentions.names(value)
            if relation not in ("birth_year", "death_year", "population"):
                assert wording.removeprefix("The ") in name_spans(sentence), (wording, sentence)


def test_articles_leave_facts_out_and_mention_some_by_alias(library: Library) -> None:
    stated = sum(len(a.sentence_of) for a in library.articles.values())
    possible = sum(len(a.facts) for a in library.articles.values())
    assert 0.5 < stated / possible < 0.9
    links = [(a.wording_of[r], v) for a in library.articles.values() for r, v in a.facts.items() if r in a.sentence_of]
    by_alias = [w for w, v in links if isinstance(v, Entity) and w == library.names.alias(v)]
    assert 0.03 < len(by_alias) / len(links) < 0.15


def test_the_works_of_a_person_appear_in_the_life_of_that_person(library: Library) -> None:
    for entity in (e for e in library.entities() if e.kind in MAKERS):
        born = library.ground.birth_year(library.ground.maker(entity).number)
        assert 22 <= library.ground.year(entity) - born <= 46
