"""Questions about the synthetic world: their mix, their gold, their contexts, their splits."""

from collections import Counter

import pytest

from evidencegym.data.records import Record
from evidencegym.data.text import name_spans, words
from evidencegym.data.world import World
from evidencegym.data.world_articles import Articles
from evidencegym.data.world_chains import Chains
from evidencegym.data.world_ground import Ground
from evidencegym.data.world_mentions import Mentions
from evidencegym.data.world_names import Names
from evidencegym.data.world_questions import WEIGHTS
from evidencegym.data.world_random import Draws
from evidencegym.data.world_schema import Entity, sizes

HOPS = {
    "bridge": 2,
    "compositional": 3,
    "compositional4": 4,
    "comparison": 2,
    "bridge_comparison": 4,
    "unanswerable": 2,
}


@pytest.fixture(scope="module")
def world() -> World:
    return World(2000)


@pytest.fixture(scope="module")
def train(world: World) -> list[Record]:
    return list(world.questions(1200))


@pytest.fixture(scope="module")
def dev(world: World) -> list[Record]:
    return list(world.questions(400, "dev"))


@pytest.fixture(scope="module")
def both(train: list[Record], dev: list[Record]) -> list[Record]:
    return train + dev


def test_the_mix_follows_the_weights(world: World, train: list[Record]) -> None:
    counts = Counter(r.gold.type for r in train if r.gold)
    assert set(counts) == set(WEIGHTS)
    assert all(abs(counts[kind] / len(train) - weight) < 0.04 for kind, weight in WEIGHTS.items())
    chosen = list(world.questions(200, weights={"comparison": 1, "unanswerable": 3, "bridge": 0}))
    counts = Counter(r.gold.type for r in chosen if r.gold)
    assert set(counts) == {"comparison", "unanswerable"}
    assert 0.6 < counts["unanswerable"] / 200 < 0.9


def test_hops_support_and_decomposition_agree(both: list[Record]) -> None:
    for record in both:
        gold = record.gold
        assert gold is not None
        assert gold.hops == HOPS[gold.type] == len(gold.support_ids) == len(set(gold.support_ids))
        assert len(gold.decomposition) == gold.hops
        assert gold.match_support_by == "id"
        assert gold.answerable == (gold.type != "unanswerable") == bool(gold.answers)
        passages = {p.id: p for p in record.context}
        assert gold.support_titles == tuple(dict.fromkeys(passages[i].title for i in gold.support_ids))
        stated = [hop for hop in gold.decomposition if hop.support_id is not None]
        for (title, index), hop in zip(gold.supporting_facts, stated, strict=True):
            passage = passages[hop.support_id or ""]
            assert title == passage.title
            assert hop.answer in passage.sentences[index]


def test_contexts_hold_the_support_among_ten_passages_of_the_world(world: World, both: list[Record]) -> None:
    known = {p.id: p for p in world.passages()}
    places: Counter[int] = Counter()
    for record in both:
        ids = [p.id for p in record.context]
        assert len(set(ids)) == 10
        assert all(known[p.id].sentences == p.sentences and known[p.id].title == p.title for p in record.context)
        places.update(ids.index(i) for i in record.gold.support_ids) if record.gold else None
    assert min(places[i] for i in range(10)) > 0.7 * max(places.values())


def test_answers_stand_in_the_support_as_spans(both: list[Record]) -> None:
    missed = 0
    for record in both:
        gold = record.gold
        assert gold is not None
        if not gold.answers or gold.answers[0] in ("yes", "no"):
            continue
        last = [p for p in record.context if p.id in gold.support_ids]
        assert any(gold.answers[0] in p.text for p in last)
        spans = {span for p in last for s in p.sentences for span in name_spans(s)}
        missed += gold.answers[0].removeprefix("The ") not in spans and not gold.answers[0].isdigit()
    assert missed == 0


def test_answers_of_chains_are_not_told_before_the_last_hop(both: list[Record]) -> None:
    for record in both:
        gold = record.gold
        assert gold is not None
        if gold.type in ("bridge", "compositional", "compositional4"):
            passages = {p.id: p for p in record.context}
            before = record.question.text + " ".join(passages[i].text for i in gold.support_ids[:-1])
            assert gold.answers[0] == gold.decomposition[-1].answer
            assert gold.answers[0] not in before


def test_comparisons_answer_with_a_side_or_yes_or_no_evenly(both: list[Record]) -> None:
    answers: Counter[str] = Counter()
    for record in both:
        gold = record.gold
        assert gold is not None
        if gold.type not in ("comparison", "bridge_comparison"):
            continue
        answer = gold.answers[0]
        if answer in ("yes", "no"):
            answers[answer] += 1
            same = gold.decomposition[0].answer == gold.decomposition[1].answer
            assert same == (answer == "yes")
        else:
            left, right = record.question.text.rstrip("?").rsplit(" or ", 1)
            assert (answer in left) or right.endswith(answer)
            answers["second" if right.endswith(answer) else "first"] += 1
    assert 0.3 < answers["yes"] / (answers["yes"] + answers["no"]) < 0.7
    assert 0.4 < answers["first"] / (answers["first"] + answers["second"]) < 0.6


def test_no_question_and_no_id_occurs_twice(both: list[Record]) -> None:
    assert len({r.question.text for r in both}) == len(both)
    assert len({r.id for r in both}) == len(both)


def test_splits_name_different_entities(train: list[Record], dev: list[Record]) -> None:
    def asked(record: Record) -> set[str]:
        gold = record.gold
        assert gold is not None
        first = gold.support_ids[:1]
        return {*first, *(gold.support_ids[gold.hops // 2 :][:1] if "comparison" in gold.type else ())}

    assert not {i for r in train for i in asked(r)} & {i for r in dev for i in asked(r)}


def test_splits_name_different_people(world: World, train: list[Record], dev: list[Record]) -> None:
    people = [world.names_of(e) for e in world.entities() if e.kind == "person"]
    known = {name: names for names in people for name in names}

    def named(records: list[Record]) -> set[tuple[str, ...]]:
        spans = (span for r in records for span in name_spans(r.question.text))
        return {known[span] for span in spans if span in known}

    shared = named(train) & named(dev)
    namesakes = {name for name, count in Counter(names[0] for names in people).items() if count > 1}
    assert len(named(dev)) > 20
    assert not {names for names in shared if names[0] not in namesakes}


def test_questions_use_aliases_qualifiers_and_descriptions(train: list[Record]) -> None:
    texts = [r.question.text for r in train]
    assert sum("(born " in t for t in texts) > 3
    assert sum(" that " in t and " made in " in t for t in texts) > 10
    named = {p.title for r in train for p in r.context}
    sides = [r.gold.answers for r in train if r.gold and r.gold.type == "comparison" and len(r.gold.answers) > 1]
    assert any(answers[0] not in named and answers[1] in named for answers in sides)


def test_questions_mostly_use_other_words_than_the_sentence_that_answers_them(train: list[Record]) -> None:
    shares = []
    for record in train:
        gold = record.gold
        if gold is None or gold.type != "bridge":
            continue
        passages = {p.id: p for p in record.context}
        _, index = gold.supporting_facts[-1]
        sentence = set(words(passages[gold.support_ids[-1]].sentences[index]))
        asked = {w for w in words(record.question.text) if len(w) > 3}
        shares.append(len(asked & sentence) / len(asked))
    assert sum(shares) / len(shares) < 0.1


def test_the_missing_fact_of_an_unanswerable_question_is_true_but_unwritten() -> None:
    counts = sizes(2000)
    names = Names(counts, 5)
    ground = Ground(counts, 5, names)
    mentions = Mentions(ground)
    articles = Articles(ground, mentions)
    chains = Chains(articles.of, mentions, ground, lambda a, b: True)
    drafts = [chains.draft_unanswerable(Entity("film", i), Draws(1, i)) for i in range(counts["film"])]
    found = [draft.steps for draft in drafts if draft is not None]
    assert len(found) > 100
    for first, last in found:
        assert first.stated
        assert not last.stated
        value = last.article.facts[last.relation]
        assert last.relation not in last.article.sentence_of
        if isinstance(value, Entity):  # a year might occur by chance
            assert not any(name in last.article.passage.text for name in mentions.names(value))
