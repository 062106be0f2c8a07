"""The synthetic world as its users see it: size, determinism, streaming, splits, bad arguments."""

import hashlib
import pickle
import tracemalloc
from collections.abc import Iterable
from itertools import islice

import pytest

from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Passage, Record
from evidencegym.data.world import World
from evidencegym.data.world_schema import KINDS, MAX_PASSAGES, Entity, sizes

# Digests of World(500, seed=7). They change whenever a name, a fact or a wording does; print the new ones with
# `python -c` and the two functions below.
PASSAGES_DIGEST = "f40b9922ff1c07d1895bd0c4558d3f33"
QUESTIONS_DIGEST = "b69dbde03248fa151bba2b1de4e99000"


def digest(lines: Iterable[str]) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    for line in lines:
        hashed.update(line.encode() + b"\n")
    return hashed.hexdigest()


def passages_digest(passages: Iterable[Passage]) -> str:
    return digest(line for p in passages for line in (p.id, p.title, *p.sentences))


def questions_digest(records: Iterable[Record]) -> str:
    return digest(line for r in records for line in (r.question.text, repr(r.gold), *(p.id for p in r.context)))


def test_the_same_arguments_give_the_same_bytes_everywhere() -> None:
    world = World(500, seed=7)
    assert passages_digest(world.passages()) == PASSAGES_DIGEST
    assert questions_digest(world.questions(60)) == QUESTIONS_DIGEST


def test_reading_in_another_order_changes_nothing() -> None:
    world = World(500, seed=7)
    list(world.questions(20, "dev"))
    for entity in reversed(list(world.entities())):
        world.passage_of(entity)
    assert passages_digest(world.passages()) == PASSAGES_DIGEST
    assert questions_digest(pickle.loads(pickle.dumps(world)).questions(60)) == QUESTIONS_DIGEST


def test_another_seed_gives_another_world() -> None:
    ids = [{p.id for p in World(400, seed).passages()} for seed in (0, 1, -1, 2**70)]
    assert all(not a & b for i, a in enumerate(ids) for b in ids[:i])


@pytest.mark.parametrize("size", [300, 301, 437, 2000])
def test_the_number_of_passages_is_exact_and_no_id_occurs_twice(size: int) -> None:
    world = World(size)
    entities, passages = list(world.entities()), list(world.passages())
    assert len(world) == len(entities) == len(set(entities)) == len({p.id for p in passages}) == size
    assert [world.passage_of(e) for e in entities[:50]] == passages[:50]
    assert {e.kind for e in entities} == set(KINDS)


@pytest.mark.parametrize("size", [300, 999, 1500, 7777, 123_456, MAX_PASSAGES])
def test_sizes_add_up_and_places_nest(size: int) -> None:
    counts = sizes(size)
    assert sum(counts.values()) == size
    assert min(counts.values()) >= 6
    assert counts["region"] % counts["country"] == 0
    assert all(counts[kind] % counts["region"] == 0 for kind in ("city", "river", "lake", "mountain"))


def test_a_million_passages_stream_without_being_kept() -> None:
    tracemalloc.start()
    world = World(MAX_PASSAGES)
    first = list(islice(world.passages(), 100))
    questions = list(world.questions(5))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len({p.id for p in first}) == 100
    assert len(questions) == 5
    assert peak < 16_000_000


def test_questions_do_not_depend_on_how_many_are_asked_for() -> None:
    world = World(500)
    assert list(world.questions(40))[:15] == list(world.questions(15))


def test_no_record_and_no_question_is_a_valid_request() -> None:
    assert list(World(300).questions(0)) == []


@pytest.mark.parametrize("size", [-1, 0, 299, MAX_PASSAGES + 1])
def test_a_size_out_of_range_is_refused(size: int) -> None:
    with pytest.raises(ConfigError, match=f"300 to 1000000 passages, found {size}"):
        World(size)


def test_bad_arguments_of_questions_are_refused_before_any_is_made() -> None:
    world = World(300)
    with pytest.raises(ConfigError, match="split among train, dev"):
        world.questions(5, "test")
    with pytest.raises(ConfigError, match="n=-1"):
        world.questions(-1)
    for weights in ({"riddle": 1.0}, {"bridge": -1.0, "comparison": 2.0}, {"bridge": 0.0}, {}):
        with pytest.raises(ConfigError, match="expected weights"):
            world.questions(5, weights=weights)


def test_a_world_that_has_no_more_questions_says_so() -> None:
    with pytest.raises(ConfigError, match="hardly any 'bridge' question"):
        list(World(300).questions(3000, "dev", weights={"bridge": 1.0}))


@pytest.mark.parametrize("entity", [Entity("person", -1), Entity("film", 10**6), Entity("planet", 0)])
def test_an_entity_of_another_world_is_refused(entity: Entity) -> None:
    with pytest.raises(ConfigError, match="expected an entity of this world"):
        World(300).passage_of(entity)
